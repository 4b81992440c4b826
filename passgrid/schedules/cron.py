"""Cron expressions over local time, also where clocks change.

Every local time that an expression names is one slot, and a slot is a moment: a local time that is left out when clocks
go forward stands for the first moment after the gap, one that comes twice for its first. Libraries differ in this: some
fire hourly entries by elapsed time, and so twice in the hour that comes twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

_MONTHS = {
    name: n
    for n, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1)
}
_WEEKDAYS = {name: n for n, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_LONGEST_WAIT = 8 * 366 + 7
"""Days in which every expression that names any day has one: 29 February comes after eight years at the latest."""


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    first: int
    last: int
    names: Mapping[str, int]


_FIELDS = (
    _Field("minute", 0, 59, {}),
    _Field("hour", 0, 23, {}),
    _Field("day of month", 1, 31, {}),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 7, _WEEKDAYS),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed expression."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """0 is Sunday."""
    any_day: bool
    """Whether the day of the month is `*`: then only the day of the week counts, and the other way round."""
    any_weekday: bool

    def names_day(self, day: date) -> bool:
        """Whether there are slots on this day of the local calendar."""
        if day.month not in self.months:
            return False
        by_day, by_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return by_day and by_weekday
        return by_day or by_weekday


def parse_cron(text: str) -> Cron:
    """Five fields: minute, hour, day of month, month, day of week; lists, ranges, steps, names; @daily and the like.

    Raises `ValueError` naming the field and what is wrong with it, also where an expression names no day at all.
    """
    parts = _ALIASES.get(text.strip().lower(), text).split()
    if len(parts) != len(_FIELDS):
        raise ValueError(f"a cron expression has 5 fields (minute hour day month weekday), this one has {len(parts)}")
    problems: list[str] = []
    values: list[set[int]] = []
    for part, field in zip(parts, _FIELDS, strict=True):
        try:
            values.append(_values(part, field))
        except ValueError as error:
            problems.append(f"{field.name} {part!r}: {error}")
    if problems:
        raise ValueError("; ".join(problems))
    minutes, hours, days, months, weekdays = values
    cron = Cron(
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=frozenset(days),
        months=frozenset(months),
        weekdays=frozenset(day % 7 for day in weekdays),
        any_day=parts[2].startswith("*"),
        any_weekday=parts[4].startswith("*"),
    )
    if not any(cron.names_day(date(2024, 1, 1) + timedelta(days=n)) for n in range(_LONGEST_WAIT)):
        raise ValueError("it names no day of any year")
    return cron


def _values(part: str, field: _Field) -> set[int]:
    found: set[int] = set()
    for piece in part.split(","):
        span, _, step_text = piece.partition("/")
        step = _number(step_text, field) if "/" in piece else 1
        if step < 1:
            raise ValueError("a step must be at least 1")
        if span == "*":
            first, last = field.first, field.last
        elif "-" in span:
            first, last = (_number(end, field, field.names) for end in span.split("-", 1))
        else:
            first = _number(span, field, field.names)
            last = field.last if "/" in piece else first
        if not field.first <= first <= last <= field.last:
            raise ValueError(f"must be within {field.first}-{field.last}, and a range must rise")
        found.update(range(first, last + 1, step))
    return found


def _number(text: str, field: _Field, names: Mapping[str, int] | None = None) -> int:
    if names and text.lower() in names:
        return names[text.lower()]
    if not (text.isascii() and text.isdigit() and len(text) <= 4):
        raise ValueError(f"{text!r} is no number" + (" and no name" if field.names else ""))
    return int(text)


def slots(cron: Cron, zone: tzinfo, after: datetime, until: datetime) -> Iterator[datetime]:
    """Every slot after a moment up to another, that one included, in order, in UTC."""
    day = after.astimezone(zone).date() - timedelta(days=1)
    last = until.astimezone(zone).date() + timedelta(days=1)
    latest = after.astimezone(UTC)
    while day <= last:
        if cron.names_day(day):
            for moment in _of_day(cron, zone, day):
                if latest < moment <= until:
                    latest = moment
                    yield moment
        day += timedelta(days=1)


def next_slots(cron: Cron, zone: tzinfo, after: datetime, count: int) -> Sequence[datetime]:
    """The next so many slots after a moment, in UTC."""
    found: list[datetime] = []
    start, days = after, 2
    while len(found) < count:
        end = start + timedelta(days=days)
        for moment in slots(cron, zone, start, end):
            found.append(moment)
            if len(found) == count:
                break
        start, days = end, min(days * 2, 366)
    return found


def _of_day(cron: Cron, zone: tzinfo, day: date) -> list[datetime]:
    times = (
        datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
        for hour in cron.hours
        for minute in cron.minutes
    )
    return sorted({moment_of(local) for local in times})


def moment_of(local: datetime) -> datetime:
    """The moment a local time stands for, in UTC: the first of two, or the first after a gap that leaves it out."""
    moment = local.replace(fold=0).astimezone(UTC)
    if moment.astimezone(local.tzinfo).replace(tzinfo=None, fold=0) == local.replace(tzinfo=None, fold=0):
        return moment
    # In a gap: the offset of before leads to after its end, that of after to before it. Its end lies between them.
    before, after = local.replace(fold=1).astimezone(UTC), moment
    offset = after.astimezone(local.tzinfo).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(after - before) // timedelta(seconds=2))
        if middle.astimezone(local.tzinfo).utcoffset() == offset:
            after = middle
        else:
            before = middle
    return after
