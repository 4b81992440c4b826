"""A last resort, off by default: a read-only call in other words gets the answer to the same question.

Everything but free text must be equal, and of the text everything that names something (`wording.py`); how alike the
rest must be is a threshold, fixed on pairs of its own (`benchmarks/semantic.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from passgrid.cassettes.canonical import canonical_arguments
from passgrid.cassettes.session import Alike, Call, WorldSession
from passgrid.cassettes.track import Occurrence
from passgrid.cassettes.wording import may_mean_the_same, unshared
from passgrid.json_values import is_object

THRESHOLD = 0.78
"""The least similarity, where a suite names none."""


class Similarity(Protocol):
    """How much two texts mean the same, from -1 to 1."""

    def similarity(self, left: str, right: str) -> float:
        """Of two texts."""
        ...


def alike_by(model: Similarity, tools: Mapping[str, Mapping[str, Any]], threshold: float = THRESHOLD) -> Alike:
    """What a session asks for a call in other words. tools: by name, as a server lists them."""

    def alike(session: WorldSession, call: Call) -> tuple[Occurrence, float] | None:
        schema: Any = tools.get(call.tool, {}).get("inputSchema")
        return same_question(session, call, schema if is_object(schema) else {}, model, threshold)

    return alike


def same_question(
    session: WorldSession, call: Call, schema: Mapping[str, Any], model: Similarity, threshold: float
) -> tuple[Occurrence, float] | None:
    """The recorded call that asks the same in other words, and how alike they are; None where there is none.

    Only calls of this tool, which only reads, in this state. Of several that are alike, the most alike.
    """
    if not session.world.rules.reads(call.tool):
        return None
    state = session.history.state_for(session.world.rules.relevant(call.tool))
    best: tuple[Occurrence, float] | None = None
    for one in session.world.occurrences_of(call.tool):
        if one.certain and one.state == state:
            score = likeness(one.call.arguments, call.arguments, schema, model, threshold)
            if score is not None and score >= threshold and (best is None or score > best[1]):
                best = (one, score)
    return best


def likeness(
    recorded: Any, asked: Any, schema: Mapping[str, Any], model: Similarity, enough: float = THRESHOLD
) -> float | None:
    """The least similarity among the texts that differ; None where anything else differs, or no text does.

    enough: what lies below it may be given less exactly.
    """
    if not (is_object(recorded) and is_object(asked) and recorded.keys() == asked.keys()):
        return None
    pairs: list[tuple[str, str]] = []
    for name in asked:
        if canonical_arguments({"": recorded[name]}) == canonical_arguments({"": asked[name]}):
            continue
        left, right = recorded[name], asked[name]
        if not (isinstance(left, str) and isinstance(right, str)) or not _free_text(name, schema):
            return None
        if not (_sentence(left) and _sentence(right) and may_mean_the_same(left, right)):
            return None
        pairs.append((left, right))
    return min((_likeness(left, right, model, enough) for left, right in pairs), default=None)


def _likeness(left: str, right: str, model: Similarity, enough: float) -> float:
    """The similarity, less what it would gain if one word of each were left out.

    Two wordings of a question differ in many words a little; a question about another thing differs in one, and is
    more alike without it.
    """
    similarity = model.similarity(left, right)
    if similarity < enough:
        return similarity
    gains = (model.similarity(ours, theirs) - similarity for ours, theirs in unshared(left, right))
    return similarity - max(0.0, *gains, 0.0)


def _free_text(name: str, schema: Mapping[str, Any]) -> bool:
    """Whether an argument may hold any text: not one of a list, not in a form."""
    properties: Any = schema.get("properties")
    declared: Any = properties.get(name) if is_object(properties) else None
    return not is_object(declared) or not ({"enum", "const", "format", "pattern"} & set(declared))


def _sentence(text: str) -> bool:
    words = list(_alphabetic(text))
    return len(words) >= 2


def _alphabetic(text: str) -> Iterator[str]:
    return (word for word in text.split() if any(character.isalpha() for character in word))
