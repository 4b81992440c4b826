"""The drawings of a report's page, as SVG within it. Every text is escaped; colours are classes of `page_style`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from passgrid.report.page_style import COLOURS
from passgrid.statistics import Curve

WIDTH, HEIGHT = 480, 260
LEFT, RIGHT, TOP, BOTTOM = 40, 30, 10, 36
MOST_BARS = 24
ROW = 20
LETTER = 11


@dataclass(frozen=True, slots=True)
class Mark:
    """How an arm is told from others: its letter, and a colour that only helps."""

    letter: str
    place: int

    @property
    def colour(self) -> int:
        """The number of its colour."""
        return self.place % COLOURS

    @property
    def dashes(self) -> str:
        """Lines of arms whose colours repeat differ in their dashes."""
        return f' stroke-dasharray="{4 + 2 * (self.place // COLOURS)} 3"' if self.place >= COLOURS else ""


def curve_chart(name: str, curves: Sequence[tuple[Mark, Curve]], most_k: int) -> str:
    """pass@k or pass^k of several arms with their bands, up to a k they all have."""
    step = (WIDTH - LEFT - RIGHT) / max(1, most_k - 1)
    body = [_shares(), *(_tick(LEFT + step * (k - 1), str(k)) for k in _some(range(1, most_k + 1)))]
    taken: list[float] = []
    for mark, curve in curves:
        points = [point for point in curve.points if point.k <= most_k]
        places = [(LEFT + step * (point.k - 1), point) for point in points]
        if not places:
            continue
        upper = [f"{x:.1f},{_y(point.high):.1f}" for x, point in places]
        lower = [f"{x:.1f},{_y(point.low):.1f}" for x, point in reversed(places)]
        line = " ".join(f"{x:.1f},{_y(point.value):.1f}" for x, point in places)
        body.append(f'<polygon class="b{mark.colour}" points="{" ".join(upper + lower)}"/>')
        body.append(f'<polyline class="s{mark.colour}" points="{line}"{mark.dashes}/>')
        if len(places) == 1:
            x, point = places[0]
            x += 14 * mark.place
            body.append(f'<path class="s{mark.colour}" d="M{x:.1f} {_y(point.low):.1f}V{_y(point.high):.1f}"/>')
            places = [(x, point)]
        body += [f'<circle class="f{mark.colour}" cx="{x:.1f}" cy="{_y(p.value):.1f}" r="3"/>' for x, p in places]
        x, last = places[-1]
        y = _free(_y(last.value) + 4, taken)
        body.append(f'<text x="{x + 6:.1f}" y="{y:.1f}">{escape(mark.letter)}</text>')
    said = "; ".join(f"{mark.letter}: {_curve_words(curve, most_k)}" for mark, curve in curves)
    return _svg(f"{name} over k, with bands of 95 %", said, HEIGHT, body)


def histogram(counts: Sequence[tuple[Mark, Mapping[int, int]]]) -> str:
    """How many attempts took how many steps, the arms side by side; shares of each arm's attempts."""
    everything = [value for _, found in counts for value in found]
    if not everything:
        return ""
    low, high = min(everything), max(everything)
    width = max(1, math.ceil((high - low + 1) / MOST_BARS))
    bins = range(low, high + 1, width)
    shares = [[_in_bin(found, start, width) for start in bins] for _, found in counts]
    most = max(max(row) for row in shares)
    group = (WIDTH - LEFT - RIGHT) / len(bins)
    bar = max(1.0, group * 0.85 / len(counts))
    body = [_shares(most)]
    for i, start in enumerate(bins):
        label = str(start) if width == 1 else f"{start}–{start + width - 1}"
        if i % max(1, len(bins) // 8) == 0:
            body.append(_tick(LEFT + group * (i + 0.5), label))
        for n, (mark, _) in enumerate(counts):
            x, top = LEFT + group * i + group * 0.075 + bar * n, _y(shares[n][i] / most)
            body.append(
                f'<rect class="f{mark.colour}" x="{x:.1f}" y="{top:.1f}" width="{bar * 0.92:.1f}" '
                f'height="{HEIGHT - BOTTOM - top:.1f}"/>'
            )
    return _svg("Steps of valid attempts", f"from {low} to {high} steps; shares of each arm", HEIGHT, body)


def difference_chart(rows: Sequence[tuple[str, float]]) -> str:
    """candidate - baseline of each scenario's pass rate, a bar each to the left or right of zero."""
    height = TOP + ROW * len(rows) + BOTTOM
    left, right = 190, 24
    middle, half = (left + WIDTH - right) / 2, (WIDTH - right - left) / 2
    body = [f'<path class="zero" d="M{middle:.1f} {TOP}V{height - BOTTOM}"/>']
    for share in (-1, -0.5, 0, 0.5, 1):
        text = f"{share * 100:+.0f}".replace("-", "−") if share else "0"
        body.append(
            f'<text class="soft" x="{middle + half * share:.1f}" y="{height - 18}" text-anchor="middle">{text}</text>'
        )
    for i, (name, value) in enumerate(rows):
        y = TOP + ROW * i
        kind = "up" if value > 0 else "down" if value < 0 else "even"
        x, wide = (middle, half * value) if value >= 0 else (middle + half * value, -half * value)
        body.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{escape(shortened(name, 28))}</text>')
        body.append(f'<rect class="{kind}" x="{x:.1f}" y="{y + 4}" width="{max(2.0, wide):.1f}" height="{ROW - 8}"/>')
    said = f"{sum(v > 0 for _, v in rows)} better, {sum(v < 0 for _, v in rows)} worse of {len(rows)} shown"
    return _svg("Differences of pass rates by scenario, in points", said, height, body)


def bar_chart(title: str, rows: Sequence[tuple[str, Sequence[tuple[Mark, float]]]], form: str) -> str:
    """A group of bars for each row, one for each arm; the longest fills the width."""
    most = max((value for _, values in rows for _, value in values), default=0) or 1
    left, right, bar = 150, 70, 13
    body: list[str] = []
    y = float(TOP)
    for name, values in rows:
        body.append(f'<text x="{left - 8}" y="{y + 11:.1f}" text-anchor="end">{escape(shortened(name, 22))}</text>')
        for mark, value in values:
            wide = max(1.0, (WIDTH - left - right) * value / most)
            body.append(f'<rect class="f{mark.colour}" x="{left}" y="{y:.1f}" width="{wide:.1f}" height="{bar - 2}"/>')
            text = f"{escape(mark.letter)} {format(value, form)}"
            body.append(f'<text class="soft" x="{left + wide + 5:.1f}" y="{y + 10:.1f}">{text}</text>')
            y += bar
        y += 7
    return _svg(title, f"{len(rows)} rows; the table beside it has the same numbers", int(y + TOP), body)


def shortened(text: str, most: int) -> str:
    """The beginning of a text, with an ellipsis where it goes on."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _svg(title: str, description: str, height: int, body: Sequence[str]) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {WIDTH} {height}" aria-label="{escape(f"{title}: {description}")}">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{''.join(body)}</svg>"
    )


def _y(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def _shares(most: float = 1.0) -> str:
    """Lines across at quarters of the highest share."""
    lines: list[str] = []
    for part in (0, 0.25, 0.5, 0.75, 1):
        y = _y(part)
        lines.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        lines.append(f'<text class="soft" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{part * most:.0%}</text>')
    return "".join(lines)


def _tick(x: float, text: str) -> str:
    return f'<text class="soft" x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{text}</text>'


def _free(y: float, taken: list[float]) -> float:
    """The nearest place from y downwards where a letter covers no other."""
    while any(abs(y - other) < LETTER for other in taken):
        y += 1
    taken.append(y)
    return y


def _some(values: Sequence[int]) -> Sequence[int]:
    return values[:: max(1, len(values) // 10)]


def _in_bin(found: Mapping[int, int], start: int, width: int) -> float:
    return sum(count for value, count in found.items() if start <= value < start + width) / (sum(found.values()) or 1)


def _curve_words(curve: Curve, most_k: int) -> str:
    return ", ".join(f"{point.value:.2f}" for point in curve.points if point.k <= most_k) or "N/A"
