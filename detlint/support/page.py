"""Pages of HTML that are whole in themselves: what they show is escaped, and they load and run nothing else.

The style and the script of a page stand in it, and its policy names them by their digests: a browser runs no other, and
asks no other machine for anything.
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
    """A text as HTML, between tags or in an attribute; what cannot be shown stands as Python escapes it.

    No text of others begins a line of the page, which would be a command where GitHub Actions prints it.
    """
    return escape(printable(raw).replace("\r", "\\r")).replace("\n", "&#10;")


def prose(raw: str) -> str:
    """A sentence as HTML, in which what stands between backquotes is code."""
    return _CODE.sub(r"<code>\1</code>", text(raw))


def whole(title: str, body: str, style: str = "", script: str = "") -> str:
    """A page of this body, which is HTML. `style` comes behind the style that all pages share."""
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
    """A style or a script that lies in a folder of detlint."""
    return (folder / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
