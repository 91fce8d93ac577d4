"""detlint in other tools."""
