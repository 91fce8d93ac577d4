"""Two records compared: where they part, and why, as far as they show. Pure, without torch."""
