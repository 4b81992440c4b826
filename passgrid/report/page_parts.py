"""What every part of a report's page is made of: escaped text, tables, sections, the marks of arms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from passgrid.report.arms import ArmReport
from passgrid.report.page_charts import Mark
from passgrid.report.report import Report

LONGEST = 300
"""Characters of a name or reason that are shown."""
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def text(value: str, most: int = LONGEST) -> str:
    """Anything as text of the page: no markup, no control characters, no changed direction of writing."""
    line = " ".join(value.split())
    return escape(_CONTROL.sub("\ufffd", line if len(line) <= most else line[: most - 1] + "…"))


def mark(report: Report, arm: ArmReport) -> Mark:
    """How an arm is marked on the page."""
    return Mark(report.letter(arm), next(i for i, one in enumerate(report.arms) if one.name == arm.name))


def key(found: Mark) -> str:
    """Its letter in its colour."""
    return f'<span class="k{found.colour}">{found.letter}</span>'


def section(title: str, body: str) -> str:
    """A heading and what stands below it, which is HTML already."""
    return f"<section>\n<h2>{text(title)}</h2>\n{body}\n</section>"


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    """A table of cells that are HTML already; the first `words` columns hold words, the others numbers."""
    kinds = [' class="text"' if i < words else "" for i in range(len(columns))]
    head = "".join(f'<th scope="col"{kind}>{text(name)}</th>' for kind, name in zip(kinds, columns, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0"><table><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
