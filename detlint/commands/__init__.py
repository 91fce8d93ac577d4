"""The commands of detlint, a module each: what they print, and how they exit."""
