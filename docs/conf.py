"""The documentation's site: `sphinx-build -W --keep-going -n docs OUT`, which needs the extra `docs` and no network."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from detlint import __version__  # noqa: E402
from tests.tools import site  # noqa: E402

project = "detlint"
author = "the authors of detlint"
version = release = __version__
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "detlint"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("filter.js", {"defer": "defer"})]
html_copy_source = html_show_sourcelink = html_show_copyright = False
html_show_search_summary = False  # it is fetched, which browsers refuse for file://
html_theme_options = {"top_of_page_buttons": []}
highlight_language = "none"
myst_heading_anchors = 4


def setup(app):
    """Write the pages that follow from data, and have pages read as the site wants them."""
    site.write(DOCS)
    app.connect("source-read", lambda _, name, source: source.__setitem__(0, site.page(DOCS, name, source[0])))
    app.connect("doctree-read", lambda app, tree: site.mark_tables(app.env.docname, tree))
