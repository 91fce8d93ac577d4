"""Self-contained HTML pages: all content is escaped, and a page loads and runs nothing from elsewhere.

A page contains its style and its script, and its content security policy names them by their digests. A browser runs no
other style or script and sends no request to another machine.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path

from detlint.support.printed import printable

_CODE = re.compile(r"`([^`]+)`")
_STYLE = "page.css"


def text(raw: str) -> str:
    """Escape a text for HTML, between tags or in an attribute; unprintable characters become Python escapes.

    Newlines are escaped too: a text that begins a line of the page could be a command to GitHub Actions when printed.
    """
    return escape(printable(raw).replace("\r", "\\r")).replace("\n", "&#10;")


def prose(raw: str) -> str:
    """Return a sentence as HTML, with text in backquotes marked up as code."""
    return _CODE.sub(r"<code>\1</code>", text(raw))


def whole(title: str, body: str, style: str = "", script: str = "") -> str:
    """Return a page with this HTML body. `style` is appended to the style that all pages share."""
    style = beside(_STYLE) + style
    policy = ["default-src 'none'", f"style-src {_digest(style)}", "base-uri 'none'", "form-action 'none'"]
    if script:
        policy.append(f"script-src {_digest(script)}")
        body += f"\n<script>{script}</script>"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{"; ".join(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{text(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def beside(name: str, folder: Path = Path(__file__).parent) -> str:
    """Return the text of a style or a script file in a folder of detlint."""
    return (folder / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
