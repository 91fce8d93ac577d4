"""Tracing a cause to the line of the user's code that makes it, by runs that are followed or changed."""
