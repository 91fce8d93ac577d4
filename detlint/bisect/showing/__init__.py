"""An outcome as text, JSON or a page of HTML. Pure, without torch."""
