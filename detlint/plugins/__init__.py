"""detlint inside other tools: each module is loaded by the tool that it is named after."""
