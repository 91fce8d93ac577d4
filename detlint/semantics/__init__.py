"""What a rule may ask about one file: names, bindings, values, types, arguments."""
