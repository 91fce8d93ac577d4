"""What the site has beside the pages of `docs/`: a page for each rule, the navigation, and tables that can be filtered.

The pages of `docs/` are read on GitHub too. So their links lead to files of the repository, their tables are plain, and
the navigation is the lists of links that they have anyway; what differs on the site is made here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from detlint import catalogue
from detlint.catalogue import Rule

ROOT = Path(__file__).parent.parent.parent
CONTENTS = ("index", "recipes", "commands")  # pages whose lists of links are the navigation
FILTERED = ("rules", "operations")  # pages whose tables can be filtered
RULES = "rules"  # the folder of the rules' pages, in the repository and on the site
_FENCE = re.compile(
    r"^```(?P<language>py(?:thon)?|yaml|json)\b(?P<info>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
_CODE = re.compile(  # a code, and before it what to pass over: fences, code, links, headings
    r"^```.*?^```$|`[^`]*`|\[[^]]*\]\([^)]*\)|^#.*?$|\b(?P<code>DET\d{3})\b", re.MULTILINE | re.DOTALL
)
_WORDS = {
    "run-to-run": "two runs on one machine agree",
    "resume": "a run that is continued from a checkpoint agrees with one that was not interrupted",
    "cross-machine": "runs on different machines agree",
    "cross-version": "runs with different releases agree",
    "batch-invariance": "a row of a batch does not depend on its neighbours",
}


def write(docs: Path) -> None:
    """Write the rules' pages, and CONTRIBUTING.md as a page, into `docs`, where git ignores them."""
    folder = docs / RULES
    folder.mkdir(exist_ok=True)
    pages = {folder / f"{rule.page.stem}.md": rule_page(rule) for rule in catalogue.load().rules.values()}
    pages[docs / "contributing.md"] = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").replace("](docs/", "](")
    for stale in set(folder.glob("*.md")) - set(pages):
        stale.unlink()
    for path, text in pages.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # what is not touched is not built again
            path.write_text(text, encoding="utf-8")


def page(docs: Path, name: str, text: str) -> str:
    """The text of the page `name` as the site has it."""
    text = _codes_linked(name, linked(text))
    text = re.sub(r"\[([\w/-]+\.md)\]\(([^)]*)\)", r"[](\2)", text)  # the site puts the title there
    text = _FENCE.sub(lambda fence: _shown(fence) if "title=" in fence["info"] else fence[0], text)
    if name in CONTENTS:
        text += "\n".join(("", *_navigation(text)))
    if name == "rules":
        pages = sorted(path.stem for path in (docs / RULES).glob("*.md"))
        text += "\n".join(("", "```{toctree}", ":hidden:", *(f"{RULES}/{stem}" for stem in pages), "```", ""))
    return text


def linked(text: str) -> str:
    """A page with links to files of the repository led to their pages on the site, or made plain where there is none."""
    text = re.sub(r"\]\((\.\./)+(rules/DET[^)]*)\)", lambda m: f"]({m[1] * (m[0].count('../') - 1)}{m[2]})", text)
    text = re.sub(r"\]\((\.\./)*CONTRIBUTING\.md\)", "](contributing.md)", text)
    return re.sub(r"\[([^]]+)\]\((?:examples|\.\./(?:tests|rules/facts|rules/evidence))[^)]*\)", r"\1", text)


def _codes_linked(name: str, text: str) -> str:
    """A page with the codes of rules in its prose leading to their pages."""
    folder = f"{'../' * name.count('/')}{RULES}/"

    def link(found: re.Match[str]) -> str:
        rule = catalogue.load().rules.get(found["code"] or "")
        return f"[{rule.code}]({folder}{rule.page.stem}.md)" if rule else found[0]

    return _CODE.sub(link, text)


def _navigation(text: str) -> Iterator[str]:
    """A table of contents for each heading of level 2 with a list of links below it."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        links = re.findall(r"^- \[([^]]+)\]\(([\w/-]+)\.md\)", part, flags=re.MULTILINE)
        if links:
            caption = part.partition("\n")[0]
            yield from (
                "```{toctree}",
                ":hidden:",
                f":caption: {caption}",
                "",
                *(f"{title} <{name}>" for title, name in links),
                "```",
                "",
            )


def rule_page(rule: Rule) -> str:
    """The page of a rule, with its header as a table."""
    return "\n".join(_rule_page(rule)) + "\n"


def _rule_page(rule: Rule) -> Iterator[str]:
    yield from (f"# {rule.code} {rule.name}", "", f"{rule.summary}.", "", "| | |", "|---|---|")
    yield f"| family | {rule.family} |"
    yield f"| severity | {severity(rule)}{'' if rule.default else '; off by default'} |"
    if rule.breaks:
        yield f"| breaks | {', '.join(f'`{promise}` ({_WORDS[promise]})' for promise in rule.breaks)} |"
    yield f"| fix | {fix(rule)} |"
    if rule.torch:
        yield f"| PyTorch | {rule.torch} |"
    yield f"| why | {_plain(rule.why)} |"
    yield from ("", f"To leave it out: `--ignore {rule.code}`, or on a line `# noqa: {rule.code}` and why.", "")
    yield _FENCE.sub(_shown, rule.text.replace("](../docs/", "](../"))


def severity(rule: Rule) -> str:
    """The severities that a finding of the rule may have, the graver one first."""
    return ", ".join(dict.fromkeys((rule.severity.value, rule.lower.value, rule.least.value)))


def fix(rule: Rule) -> str:
    """How safe the rule's fixes are at most, or "none"."""
    return rule.fix.value if rule.fix else "none"


def _plain(text: str) -> str:
    """A text of the header, whose braces stand for what differs from finding to finding."""
    return re.sub(r"\{(\w+)\}", r"*\1*", text).replace("|", "\\|")


def _shown(fence: re.Match[str]) -> str:
    """A fenced example with what its info says as a caption."""
    info = fence["info"]
    title = re.search(r'title="([^"]+)"', info)
    torch = re.search(r'torch="([^"]+)"', info)
    words = [title.group(1)] if title else []
    if info.strip().startswith("fixed"):
        words.append("After `--fix --unsafe-fixes`" if "unsafe" in info else "After `--fix`")
    if torch:
        words.append(f"For PyTorch {torch.group(1)}")
    caption = (f":caption: {', '.join(words)}\n",) if words else ()
    language = "python" if fence["language"].startswith("py") else fence["language"]
    return "".join((f"```{{code-block}} {language}\n", *caption, "\n", fence["code"], "```"))


def mark_tables(name: str, tree: Any) -> None:
    """Give the tables of some pages (`tree` is a document of docutils) the class by which the site's script finds them."""
    if name in FILTERED:
        for table in tree.findall(lambda node: node.tagname == "table"):
            table["classes"] += ["filter", name]
