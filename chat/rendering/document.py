"""One answer's Markdown -> HTML that is safe to put on a page.

Two walls stand one behind the other: the grammar makes only known elements, and nh3 lets only the same elements
through. Raw HTML in the text stays text. A text that would cost too much (see `effort.py`) loses looks, never a word; in
its plainest form it is escaped lines and nothing else, which need no second wall.
"""

import re

import nh3
from markdown_it.common.utils import escapeHtml

from chat.rendering.effort import Effort, TooMuch, check_lines
from chat.rendering.grammar import IMAGE_SOURCE, grammar

# fmt: off
_MATHML = frozenset({
    "math", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "mspace", "msqrt",
    "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
    "menclose", "mmultiscripts",
})
_TAGS = _MATHML | {
    "a", "blockquote", "br", "code", "del", "div", "em", "h3", "h4", "h5", "h6", "hr", "img", "input",
    "label", "li", "ol", "p", "pre", "s", "section", "span", "strong", "sup", "table", "tbody", "td", "th", "thead",
    "tr", "ul",
}
_MATHML_ATTRIBUTES = {
    "accent", "columnalign", "columnlines", "columnspacing", "depth", "display", "fence", "form", "height",
    "linethickness", "lspace", "mathvariant", "maxsize", "minsize", "notation", "rowlines", "rowspacing",
    "rspace", "separator", "stretchy", "voffset", "width",
}
_ATTRIBUTES = {
    "a": {"href", "title", "class", "id", "target"},
    "code": {"class"},
    "div": {"class", "tabindex"},
    "hr": {"class"},
    "img": {"src", "alt", "title"},
    "input": {"type", "disabled", "checked", "class"},
    "li": {"class", "id", "value"},
    "ol": {"class", "start"},
    "pre": {"tabindex"},
    "section": {"class"},
    "span": {"class"},
    "sup": {"class", "id"},
    "td": {"class"},
    "th": {"class"},
    "ul": {"class"},
    **dict.fromkeys(_MATHML, _MATHML_ATTRIBUTES),
}
# fmt: on

# The sanitiser takes the square of the time for many escaped signs in a row. So it sees each as a character that is none
# and has no meaning in HTML or in an address; what stands for it after is as inert wherever it stands.
_ESCAPED = dict(zip(("&amp;", "&lt;", "&gt;", "&quot;"), "\ufdd0\ufdd1\ufdd2\ufdd3", strict=True))
_NO_CHARACTER = re.compile("[\ufdd0-\ufdd3]")


def render(markdown: str, *, anchor: str = "", effort: Effort | None = None) -> str:
    """Render one answer to sanitised HTML; `anchor` keeps the footnotes of a page's answers apart."""
    env = {"effort": effort or Effort(), **({"docId": anchor} if anchor else {})}
    markdown = _NO_CHARACTER.sub("\ufffd", markdown)
    try:
        check_lines(markdown)
        html = grammar().render(markdown, env)
    except TooMuch:
        return _paragraphs(markdown)
    return _sanitised(html)


def _sanitised(html: str) -> str:
    html = _NO_CHARACTER.sub("\ufffd", html)
    for escaped, sign in _ESCAPED.items():
        html = html.replace(escaped, sign)
    html = nh3.clean(
        html,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        attribute_filter=_keep_attribute,
        url_schemes={"http", "https", "mailto", "tel", "data"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )
    for escaped, sign in _ESCAPED.items():
        html = html.replace(sign, escaped)
    return html


def _paragraphs(text: str) -> str:
    """Every line as it was written; blank ones divide. In one pass: this is what stands when all else is too slow."""
    paragraphs: list[list[str]] = [[]]
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if line.strip():
            paragraphs[-1].append(escapeHtml(line.strip()))
        elif paragraphs[-1]:
            paragraphs.append([])
    return "".join("<p>" + "<br>\n".join(lines) + "</p>\n" for lines in paragraphs if lines)


def _keep_attribute(tag: str, name: str, value: str) -> str | None:
    if name == "id":
        return value if re.fullmatch(r"fn(?:ref)?[\w:-]*", value) else None
    if name == "src":
        return value if IMAGE_SOURCE.match(value) else None
    if name == "href":
        return None if value.lower().lstrip().startswith("data:") else value
    if name == "target":
        return value if value == "_blank" else None
    if tag == "input" and name == "type":
        return value if value == "checkbox" else None
    return value
