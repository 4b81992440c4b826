"""Which questions in other words are answered by the semantic fallback, and which near misses are.

python benchmarks/semantic.py --json
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import orjson

from benchmarks.semantic_pairs import FIXING_OTHER, FIXING_SAME, MEASURING_OTHER, MEASURING_SAME, Pair
from passgrid.cassettes.embedding import embedding
from passgrid.cassettes.semantic import THRESHOLD, likeness


def answered(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs whose second question gets the answer to the first."""
    return [pair for pair in pairs if (score := scored(pair)) is not None and score >= THRESHOLD]


def scored(pair: Pair) -> float | None:
    """How alike the two are; None where something that names a thing differs."""
    return likeness({"query": pair[0]}, {"query": pair[1]}, {}, embedding())


def main() -> None:
    """Count them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="also every pair with its score")
    options = parser.parse_args()
    sets = {
        "fixing": (FIXING_SAME, FIXING_OTHER),
        "measuring": (MEASURING_SAME, MEASURING_OTHER),
    }
    found = {
        name: {
            "paraphrases": len(same), "paraphrases_answered": len(answered(same)),
            "near_misses": len(other), "near_misses_answered": len(answered(other)),
        }
        for name, (same, other) in sets.items()
    }  # fmt: skip
    if options.verbose:
        for name, parts in sets.items():
            for kind, pairs in zip(("same", "other"), parts, strict=True):
                for pair in pairs:
                    raw = embedding().similarity(*pair)
                    score = scored(pair)
                    print(f"{name} {kind} {'refused' if score is None else 'scored '} {raw:.3f} {pair[0]} | {pair[1]}")
    if options.json:
        print(orjson.dumps({"threshold": THRESHOLD, **found}, option=orjson.OPT_INDENT_2).decode())
        return
    for name, counts in found.items():
        print(
            f"{name}: {counts['paraphrases_answered']} of {counts['paraphrases']} paraphrases, "
            f"{counts['near_misses_answered']} of {counts['near_misses']} near misses are answered"
        )


if __name__ == "__main__":
    main()
