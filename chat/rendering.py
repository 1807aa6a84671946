"""Markdown -> HTML that is safe to put on a page.

Takes the text of an answer, gives HTML: CommonMark with tables, strikethrough, task lists, footnotes, bare
links, code coloured by CSS classes and maths as MathML. Raw HTML in the text stays text. Two walls stand one
behind the other: the grammar here makes only known elements, and nh3 lets only the same elements through.

It knows nothing of Django, of requests or of who wrote the text. `static/chat/js/grammar.js` is its twin in
the browser while a draft streams: a rule that changes here changes there, or the page jumps at the end.
"""

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from html import unescape
from typing import Any
from xml.etree.ElementTree import tostring

import nh3
from latex2mathml.converter import convert_to_element as convert_tex
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

# Colouring costs 10 to 100 times what the text around it costs, and some lexers are worse than linear.
HIGHLIGHT_MAX_CHARS = 30_000
TEX_MAX_CHARS = 2_000
NESTING_MAX = 40

_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_IMAGE_SOURCE = re.compile(r"data:image/(?:png|gif|jpeg|webp);|/(?![/\\])", re.IGNORECASE)
_FORMATTER = HtmlFormatter(nowrap=True, classprefix="hl-")

Tokens = Sequence[Token]
Env = MutableMapping[str, Any]

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
    "li": {"class", "id"},
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


def render(markdown: str, *, anchor: str = "") -> str:
    """Render one answer to sanitised HTML; `anchor` keeps the footnotes of a page's answers apart."""
    return nh3.clean(
        _grammar().render(markdown, {"docId": anchor} if anchor else {}),
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        attribute_filter=_keep_attribute,
        url_schemes={"http", "https", "mailto", "tel", "data"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )


def _keep_attribute(tag: str, name: str, value: str) -> str | None:
    if name == "id":
        return value if re.fullmatch(r"fn(?:ref)?[\w:-]*", value) else None
    if name == "src":
        return value if _IMAGE_SOURCE.match(value) else None
    if name == "href":
        return None if value.lower().lstrip().startswith("data:") else value
    if name == "target":
        return value if value == "_blank" else None
    if tag == "input" and name == "type":
        return value if value == "checkbox" else None
    return value


@cache
def _grammar() -> MarkdownIt:
    md = MarkdownIt(
        "commonmark",
        {"html": False, "linkify": True, "breaks": False, "highlight": None, "maxNesting": NESTING_MAX},
        renderer_cls=_HouseRenderer,
    )
    md.enable(["table", "strikethrough", "linkify"])
    # A bare "example.com" or "main.py" in prose is rarely meant as a link; with its scheme it is.
    assert md.linkify is not None  # noqa: S101 it comes with the extra that requirements/base.in names
    md.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    md.use(footnote_plugin, inline=False).use(tasklists_plugin, label=True)
    md.block.ruler.before(
        "fence", "math_block", _math_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    md.inline.ruler.before("escape", "math", _math_inline)
    md.core.ruler.push("house_style", _house_style)
    return md


# --- Maths --------------------------------------------------------------------------------------------------
_BLOCK_DELIMITERS = {"$$": "$$", "\\[": "\\]"}
_INLINE_DELIMITERS = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}


def _math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 markdown-it's form
    """A formula that begins a line with `$$` or `\\[` and ends one with its twin, no blank line between."""
    if state.is_code_block(start):
        return False
    first = state.getLines(start, start + 1, state.blkIndent, keepLastLF=False).strip()
    closing = _BLOCK_DELIMITERS.get(first[:2])
    if closing is None:
        return False
    lines = [first[2:]]
    line = start
    while not lines[-1].rstrip().endswith(closing):
        line += 1
        if line >= end or state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            return False
        lines.append(state.getLines(line, line + 1, state.blkIndent, keepLastLF=False))
    tex = "\n".join(lines).rstrip()[: -len(closing)].strip()
    if not tex or closing in tex:
        return False
    if not silent:
        token = state.push("math_block", "", 0)
        token.content, token.markup, token.map, token.block = tex, first[:2], [start, line + 1], True
    state.line = line + 1
    return True


def _math_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 markdown-it's form
    """`\\(a\\)`, `\\[a\\]`, `$$a$$`; and `$a$` if the dollars hug it and no digit follows (prices)."""
    source, at = state.src, state.pos
    opening = source[at : at + 2]
    if opening in _INLINE_DELIMITERS:
        closing, begin = _INLINE_DELIMITERS[opening], at + 2
    elif opening[:1] == "$":
        opening, closing, begin = "$", "$", at + 1
    else:
        return False
    stop = source.find(closing, begin, state.posMax)
    if stop < 0:
        return False
    tex, after = source[begin:stop], source[stop + len(closing) : stop + len(closing) + 1]
    if not tex.strip() or "\n\n" in tex:
        return False
    if opening == "$" and (tex != tex.strip() or "\n" in tex or after.isdigit() or tex.endswith("\\")):
        return False
    if not silent:
        token = state.push("math_inline", "", 0)
        token.content, token.markup = tex.strip(), opening
    state.pos = stop + len(closing)
    return True


def _mathml(tex: str, *, display: bool) -> str:
    if len(tex) <= TEX_MAX_CHARS:
        try:
            formula = convert_tex(tex, display="block" if display else "inline")
            # The converter prints its text, full of entities, unescaped: `\\text{<b>}` would be markup.
            for element in formula.iter():
                element.text = unescape(element.text) if element.text else None
            return tostring(formula, encoding="unicode")
        except Exception:  # noqa: BLE001, S110 the converter raises whatever it meets; a formula must not lose an answer
            pass
    return f'<code class="tex">{escapeHtml(tex)}</code>'


# --- What the elements look like ----------------------------------------------------------------------------
def _house_style(state: StateCore) -> None:
    """Headings start below the page's own; alignment is a class, as the policy forbids style attributes."""
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        elif token.type in {"th_open", "td_open"}:
            style = str(token.attrs.pop("style", ""))
            if style:
                token.attrSet("class", style.removeprefix("text-align:"))


def _code(content: str, info: str) -> str:
    word = info.split(maxsplit=1)[0] if info.strip() else ""
    language = word.lower() if _LANGUAGE.fullmatch(word) else ""
    # The label is always there, empty or not, so that nothing moves when the draft's code gets its colours.
    label = f'<div class="code-head">{escapeHtml(language)}</div>'
    attribute = f' class="language-{escapeHtml(language)}"' if language else ""
    code = f'<pre tabindex="0"><code{attribute}>{_colour(content, language)}</code></pre>'
    return f'<div class="code">{label}{code}</div>\n'


def _colour(content: str, language: str) -> str:
    if language and len(content) <= HIGHLIGHT_MAX_CHARS:
        try:
            lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        except ClassNotFound:
            pass
        else:
            return str(highlight(content, lexer, _FORMATTER))
    return escapeHtml(content)


class _HouseRenderer(RendererHTML):
    """What the elements look like; markdown-it calls the method that is named like the token."""

    def fence(self, tokens: Tokens, idx: int, _options: OptionsDict, _env: Env) -> str:
        return _code(tokens[idx].content, tokens[idx].info)

    def code_block(self, tokens: Tokens, idx: int, _options: OptionsDict, _env: Env) -> str:
        return _code(tokens[idx].content, "")

    def image(self, tokens: Tokens, idx: int, options: OptionsDict, env: Env) -> str:
        """An image from elsewhere would tell its host who reads what: it becomes a link."""
        source = str(tokens[idx].attrs.get("src", ""))
        alt = self.renderInlineAsText(tokens[idx].children or [], options, env)
        if _IMAGE_SOURCE.match(source):
            return f'<img src="{escapeHtml(source)}" alt="{escapeHtml(alt)}">'
        return f'<a href="{escapeHtml(source)}" target="_blank">{escapeHtml(alt or source)}</a>'

    def link_open(self, tokens: Tokens, idx: int, options: OptionsDict, env: Env) -> str:
        if re.match(r"https?:", str(tokens[idx].attrs.get("href", "")), re.IGNORECASE):
            tokens[idx].attrSet("target", "_blank")
        return self.renderToken(tokens, idx, options, env)

    def table_open(self, _tokens: Tokens, _idx: int, _options: OptionsDict, _env: Env) -> str:
        return '<div class="table" tabindex="0"><table>\n'

    def table_close(self, _tokens: Tokens, _idx: int, _options: OptionsDict, _env: Env) -> str:
        return "</table></div>\n"

    def math_block(self, tokens: Tokens, idx: int, _options: OptionsDict, _env: Env) -> str:
        return f'<div class="math" tabindex="0">{_mathml(tokens[idx].content, display=True)}</div>\n'

    def math_inline(self, tokens: Tokens, idx: int, _options: OptionsDict, _env: Env) -> str:
        return _mathml(tokens[idx].content, display=tokens[idx].markup in {"$$", "\\["})
