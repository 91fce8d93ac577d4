"""What a rule may ask of one file: names, bindings, values, types, arguments."""
