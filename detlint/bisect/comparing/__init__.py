"""Two records compared: where they part, and why, as far as they tell. Pure, without torch."""
