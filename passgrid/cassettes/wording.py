"""Whether two texts may be two wordings of one question: what must be equal, whatever a similarity says.

Sentences that differ in a city, a number or a "not" are close neighbours for an embedding, and mean other things. So
everything that names something is compared exactly, and only the rest is left to the embedding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise

from passgrid.cassettes.vocabulary import CALENDAR, NEGATIONS, NUMBERS, OPPOSITES, PLACING, SMALL

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+(?:[.,:]\d+)*|[^\w\s]", re.UNICODE)
_HARD = re.compile(
    r"\S*[/\\]\S*"  # paths, addresses, fractions
    r"|\S+@\S+"  # mail addresses
    r"|\b\w+\.\w{1,5}\b"  # file names, hosts
    r"|[\"'`“”‘][^\"'`“”’]+[\"'`“”’](?!\w)"  # quoted
    r"|(?=\S*\d)\S+"  # anything with a digit: numbers, codes, dates, sums
    r"|#\w+|\$\w+|\b\w+_\w+\b"  # tags and identifiers
)
_CHANGEABLE = 0.6
"""From this share of equal words on, in order, two texts are one sentence with something changed in it."""


def may_mean_the_same(left: str, right: str) -> bool:
    """Whether nothing that must be equal differs: numbers, ids, dates, paths, names, negations, opposites."""
    facts = (_hard, _numbers, _calendar, _negations, _names)
    if any(fact(left, right) != fact(right, left) for fact in facts):
        return False
    return (
        not _opposed(left, right) and not _misplaced(left, right) and not _one_word_swapped(_words(left), _words(right))
    )


def _words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in _WORD.findall(text) if word[0].isalnum()]


def unshared(left: str, right: str) -> list[tuple[str, str]]:
    """Both texts, each without one word that says something and that the other lacks: every such pair of them."""
    ours, theirs = _words(left), _words(right)
    stems, other = {_stem(word) for word in ours}, {_stem(word) for word in theirs}
    return [
        (" ".join(word for word in ours if word != gone), " ".join(word for word in theirs if word != come))
        for gone in dict.fromkeys(word for word in ours if _stem(word) not in other and word not in SMALL)
        for come in dict.fromkeys(word for word in theirs if _stem(word) not in stems and word not in SMALL)
    ]


def _hard(text: str, _: str) -> list[str]:
    return sorted(match.strip(".,;:!?()[]").lower() for match in _HARD.findall(text))


def _numbers(text: str, _: str) -> list[str]:
    words = _words(text)
    return sorted([NUMBERS[word] for word in words if word in NUMBERS] + [word for word in words if word[0].isdigit()])


def _calendar(text: str, _: str) -> list[str]:
    return sorted(CALENDAR[word] for word in _words(text) if word in CALENDAR)


def _negations(text: str, _: str) -> int:
    return sum(word in NEGATIONS or word.endswith("n't") for word in _words(text))


def _opposed(left: str, right: str) -> bool:
    """Whether the two say different words of a group of which one never stands for another."""
    ours, theirs = {*_words(left)}, {*_words(right)}
    for group in OPPOSITES:
        said, answered = ({_stem(word) for word in group & words} for words in (ours, theirs))
        if said and answered and said != answered:
            return True
    return False


def _names(text: str, other: str) -> list[str]:
    """Proper names: words with a capital where no sentence begins, in either text."""
    known = {*_capitals(text), *_capitals(other)}
    return sorted(word for word in _words(text) if word in known and word not in SMALL and word not in CALENDAR)


def _capitals(text: str) -> Iterator[str]:
    begins = True
    for match in _WORD.findall(text):
        if match[0].isupper() and (not begins or (len(match) > 1 and match.isupper())):
            yield match.lower()
        begins = match in {".", "!", "?", ":"}


def _misplaced(left: str, right: str) -> bool:
    """Whether the two go from, or lie in, another thing: from A to B is not from B to A."""
    ours, theirs = _placed(left), _placed(right)
    return any(ours[word] != theirs[word] for word in ours.keys() & theirs.keys())


def _placed(text: str) -> dict[str, set[str]]:
    """What follows each word of place, direction or authorship: its next word that says something."""
    words = [word for word in _words(text) if word in PLACING or word not in SMALL]
    found: dict[str, set[str]] = {}
    for before, word in pairwise(words):
        if before in PLACING and word not in PLACING:
            found.setdefault(before, set()).add(_stem(word))
    return found


def _one_word_swapped(left: list[str], right: list[str]) -> bool:
    """Whether two texts are nearly one sentence, with another thing in one of its places, or a condition more."""
    if SequenceMatcher(None, left, right, autojunk=False).ratio() < _CHANGEABLE:
        return False
    ours, theirs = ({_stem(word) for word in words if word not in SMALL} for words in (left, right))
    return ours != theirs


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "est", "ed", "es", "ly", "er", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
