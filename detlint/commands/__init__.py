"""The commands of detlint, one module each: what they print, and how they exit."""
