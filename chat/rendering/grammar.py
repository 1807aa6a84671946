"""The Markdown that we read and the elements that it becomes; what comes out has not been sanitised yet.

CommonMark with tables, strikethrough, task lists, footnotes, bare links, code coloured by CSS classes and maths. Every
document brings its `Effort` in markdown-it's environment under "effort"; the first rule of every chain spends it.

It knows nothing of Django, of requests or of who wrote the text. `static/chat/js/grammar.js` is its twin in
the browser while a draft streams: a rule that changes here changes there, or the page jumps at the end.
"""

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import Any

from linkify_it import LinkifyIt
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.rules_core.linkify import linkify
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from chat.rendering.colour import colour
from chat.rendering.effort import Effort, TooMuch
from chat.rendering.height import LEAST, height
from chat.rendering.maths import math_block, math_inline, mathml
from chat.rendering.notes import add_notes

NESTING_MAX = 40
LINK_MAX_CHARS = 2_000

# What the sanitiser lets through as an image's source, too; the rest becomes a link.
IMAGE_SOURCE = re.compile(r"data:image/(?:png|gif|jpeg|webp);|/(?![/\\])", re.IGNORECASE)
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_TASK = re.compile(r"\[([ xX])\](?=[ \t\n])")
_OPENERS = frozenset("[!<$\\:")
_FENCES = frozenset("`~")
_LINK_BEGINS = re.compile(r"//|mailto:", re.IGNORECASE)

Tokens = Sequence[Token]
Env = MutableMapping[str, Any]


@cache
def grammar() -> MarkdownIt:
    """The one parser of the process; it keeps nothing of a document."""
    md = MarkdownIt(
        "commonmark",
        {"html": False, "linkify": True, "breaks": False, "highlight": None, "maxNesting": NESTING_MAX},
        renderer_cls=_HouseRenderer,
    )
    md.enable(["table", "strikethrough", "linkify"])
    # A bare "example.com" or "main.py" in prose is rarely meant as a link; with its scheme it is.
    md.linkify = _ShortLinks(options={"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    add_notes(md)
    chains: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.block.ruler.before("fence", "math_block", math_block, chains)
    md.inline.ruler.before("escape", "math", math_inline)
    md.core.ruler.push("house_style", _house_style)
    md.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    md.block.ruler.before("table", "effort", _take_block_step, chains)
    md.inline.ruler.before("text", "effort", _take_inline_step)
    md.core.ruler.at("inline", _inline)
    md.core.ruler.at("linkify", _linkify)
    return md


# --- What it costs ------------------------------------------------------------------------------------------
def _take_block_step(state: StateBlock, start: int, _end: int, _silent: bool) -> bool:  # noqa: FBT001
    # A list in a list is read again at each level, and a block of code is dear to show.
    first = state.src[(at := state.bMarks[start] + state.tShift[start]) : at + 1]
    _effort(state.env).take(5 if first in _FENCES else 2 if state.level > 2 else 1)
    return False


def _take_inline_step(state: StateInline, _silent: bool) -> bool:  # noqa: FBT001
    # The rule for links looks back over all that is pending, five times as slowly as others look ahead.
    times = 10 if state.src.startswith("://", state.pos) else 1
    # Only what may open a construct is followed to the end of its paragraph; all other signs are looked at where they stand.
    length = len(state.src) if state.src[state.pos] in _OPENERS else 0
    _effort(state.env).take(times, length=length)
    return False


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 markdown-it's form
    """The library's rule; each row gets as many cells as the first, so a few bytes may make very many."""
    # Its first line is read whole before any of it can be counted.
    _effort(state.env).check(state.src.count("|", state.bMarks[start], state.eMarks[start]))
    before = len(state.tokens)
    found = table(state, start, end, silent)
    _effort(state.env).take((len(state.tokens) - before) * 2 // 3)
    return found


def _inline(state: StateCore) -> None:
    """The library's rule; but where the effort ends, paragraphs are their plain text from there on."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        try:
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        except TooMuch:
            token.children = [Token("plain", "", 0, content=token.content)]


def _linkify(state: StateCore) -> None:
    """The library's rule looks at each `//` and each `mailto:`, as far as a link may reach."""
    try:
        for token in state.tokens:
            if token.type == "inline":
                times = len(_LINK_BEGINS.findall(token.content))
                _effort(state.env).take(times, length=len(token.content))
    except TooMuch:
        return
    linkify(state)


class _ShortLinks(LinkifyIt):  # type: ignore[misc] # it has no types
    """Looks no further than a link may be long, as the browser's library does by itself."""

    def test_schema_at(self, text: str, name: str, position: int) -> int:
        length: int = super().test_schema_at(text[: position + LINK_MAX_CHARS], name, position)
        return length


def _effort(env: Env) -> Effort:
    effort: Effort = env["effort"]
    return effort


# --- What the elements look like ----------------------------------------------------------------------------
def _house_style(state: StateCore) -> None:
    """Headings start below the page's own, and none is left out; alignment is a class, as the policy forbids style
    attributes; tasks."""
    lists: list[Token] = []
    outline: list[int] = []  # the levels, as written, of the headings under which one stands
    for at, token in enumerate(state.tokens):
        if token.type == "heading_open":
            token.tag = _heading(token, outline)
        elif token.type == "heading_close":
            token.tag = f"h{min(6, 2 + len(outline) + (token.level > 0))}"
        elif token.type in {"th_open", "td_open"}:
            style = str(token.attrs.pop("style", ""))
            if style:
                token.attrSet("class", style.removeprefix("text-align:"))
        elif token.type in {"bullet_list_open", "ordered_list_open"}:
            lists.append(token)
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            lists.pop()
        elif token.type == "inline" and at >= 2 and lists:
            item, paragraph = state.tokens[at - 2 : at]
            if (item.type, paragraph.type) == ("list_item_open", "paragraph_open"):
                _mark_task(token, item, lists[-1])


def _heading(token: Token, outline: list[int]) -> str:
    """A model may begin with any level, and pass over some; a listener walks by them, and would miss what is not there. In
    a list or a quotation, where it heads nothing of the document, it stands below what it stands under."""
    if token.level:
        return f"h{min(6, 3 + len(outline))}"
    level = int(token.tag[1])
    while outline and outline[-1] >= level:
        outline.pop()
    outline.append(level)
    return f"h{min(6, 2 + len(outline))}"


def _mark_task(inline: Token, item: Token, parent: Token) -> None:
    """ "[ ] " and "[x] " at the start of a list item."""
    mark, children = _TASK.match(inline.content), inline.children or []
    if mark is None or not children or not children[0].content.startswith(mark[0]):
        return
    if children[0].type not in {"text", "plain"}:
        return
    children[0].content = children[0].content[len(mark[0]) :]
    box = Token("task", "", 0, meta={"done": mark[1] != " "})
    inline.children = [Token("label_open", "label", 1), box, *children, Token("label_close", "label", -1)]
    item.attrSet("class", "task-list-item")
    parent.attrSet("class", "contains-task-list")


def _code(content: str, info: str, env: Env) -> str:
    word = info.split(maxsplit=1)[0] if info.strip() else ""
    language = word.lower() if _LANGUAGE.fullmatch(word) else ""
    # The label is always there, empty or not, so that nothing moves when the draft's code gets its colours.
    label = f'<div class="code-head">{escapeHtml(language)}</div>'
    attribute = f' class="language-{escapeHtml(language)}"' if language else ""
    code = f'<pre tabindex="0"><code{attribute}>{colour(content, language, _effort(env))}</code></pre>'
    return f'<div class="code">{label}{code}</div>\n'


class _HouseRenderer(RendererHTML):
    """What the elements look like; markdown-it calls the method that is named like the token."""

    def fence(self, tokens: Tokens, idx: int, _options: OptionsDict, env: Env) -> str:
        return _code(tokens[idx].content, tokens[idx].info, env)

    def code_block(self, tokens: Tokens, idx: int, _options: OptionsDict, env: Env) -> str:
        return _code(tokens[idx].content, "", env)

    def plain(self, tokens: Tokens, idx: int, _options: OptionsDict, _env: Env) -> str:
        return escapeHtml(tokens[idx].content)

    def task(self, tokens: Tokens, idx: int, _options: OptionsDict, _env: Env) -> str:
        checked = ' checked="checked"' if tokens[idx].meta["done"] else ""
        return f'<input class="task-list-item-checkbox"{checked} disabled="disabled" type="checkbox">'

    def image(self, tokens: Tokens, idx: int, options: OptionsDict, env: Env) -> str:
        """An image from elsewhere would tell its host who reads what: it becomes a link."""
        source = str(tokens[idx].attrs.get("src", ""))
        alt = self.renderInlineAsText(tokens[idx].children or [], options, env)
        if IMAGE_SOURCE.match(source):
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

    def math_block(self, tokens: Tokens, idx: int, _options: OptionsDict, env: Env) -> str:
        """In a room of its own height, which the draft had too: so nothing moves when a formula takes its TeX's place."""
        tex = tokens[idx].content
        steps = height(tex)
        room = f" tall-{steps}" if steps > LEAST else ""
        return f'<div class="math{room}" tabindex="0">{mathml(tex, _effort(env), display=True)}</div>\n'

    def math_inline(self, tokens: Tokens, idx: int, _options: OptionsDict, env: Env) -> str:
        return mathml(tokens[idx].content, _effort(env), display=tokens[idx].markup in {"$$", "\\["})
