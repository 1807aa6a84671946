"""The turns of a prompt as a wire can send them: one per speaker, each with what its provider gave to send back.

Takes turns in any order of roles; gives alternating ones. Does not know how a wire spells a turn.
"""

from __future__ import annotations

from typing import Any

from chat.providers.base import Prompt, Turn
from chat.streaming.errors import UnknownSetting


def alternating(turns: list[Turn], wire: str, model: str) -> list[list[Turn]]:
    """Return the turns in runs of one role; within a run, texts are joined by a blank line, and a turn that
    carries something stands alone. What another wire or another model gave is left out (a provider answers its
    own signature with an error when another of its models had given it), and so is empty text.
    """
    runs: list[list[Turn]] = []
    for turn in turns:
        # A turn that does not say its model is taken at its wire's word.
        carry = turn.carry if turn.wire == wire and turn.model in {"", model} else []
        if not (turn.text.strip() or carry or turn.images):
            continue
        plain = Turn(turn.role, turn.text, carry, wire if carry else "", images=turn.images)
        if not runs or runs[-1][0].role != turn.role:
            runs.append([plain])
        elif carry or runs[-1][-1].carry:
            runs[-1].append(plain)
        else:
            before = runs[-1][-1]
            text = "\n\n".join(text for text in (before.text, turn.text) if text)
            runs[-1][-1] = Turn(turn.role, text, images=before.images + turn.images)
    return runs


def known_settings(prompt: Prompt, known: frozenset[str]) -> dict[str, Any]:
    """Return the settings that were made; raise `UnknownSetting` for one that the wire cannot honour."""
    unknown = prompt.settings.keys() - known
    if unknown:
        raise UnknownSetting(f"expected settings among {sorted(known)}, got {sorted(unknown)}")
    return {name: value for name, value in prompt.settings.items() if value is not None}


def chosen_tool(choice: Any) -> str | None:
    """Return the name in a `tool_choice` that names one tool (in the words of OpenAI, which are ours)."""
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


def chosen(word: Any, words: dict[str, str]) -> str:
    """Return a wire's own word for a setting's; raise `UnknownSetting` for one that has none."""
    found = words.get(word) if isinstance(word, str) else None
    if found is None:
        raise UnknownSetting(f"expected one of {sorted(words)}, got {word!r}")
    return found
