"""Slots in local time: every expression against a minute-by-minute search, and every change of the clocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passgrid.schedules.cron import Cron, moment_of, next_slots, parse_cron, slots

LONDON, NEW_YORK = ZoneInfo("Europe/London"), ZoneInfo("America/New_York")
ZONES = [
    "Europe/London", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu",
    "America/St_Johns", "Pacific/Apia", "America/Santiago", "Africa/Monrovia", "UTC",
]  # fmt: skip


def local_times(cron: str, zone: ZoneInfo, day: str) -> list[str]:
    """The slots of one local day, as local times with their offset."""
    start = datetime.fromisoformat(day).replace(tzinfo=zone) - timedelta(seconds=1)
    found = slots(parse_cron(cron), zone, start, start + timedelta(hours=24))
    return [f"{slot.astimezone(zone):%H:%M %z}" for slot in found]


def test_a_time_that_is_left_out_is_fired_at_the_first_moment_after_the_gap() -> None:
    assert local_times("30 1 * * *", LONDON, "2026-03-29") == ["02:00 +0100"]
    assert local_times("30 2 * * *", NEW_YORK, "2026-03-08") == ["03:00 -0400"]
    assert local_times("15,45 1 * * *", LONDON, "2026-03-29") == ["02:00 +0100"], "both at once are one slot"
    assert local_times("30 1,2 * * *", LONDON, "2026-03-29") == ["02:00 +0100", "02:30 +0100"]
    assert local_times("10 2 * * *", ZoneInfo("Australia/Lord_Howe"), "2026-10-04") == ["02:30 +1100"], "half an hour"


def test_a_time_that_comes_twice_is_fired_the_first_time() -> None:
    assert local_times("30 1 * * *", LONDON, "2026-10-25") == ["01:30 +0100"]
    assert local_times("30 1 * * *", NEW_YORK, "2026-11-01") == ["01:30 -0400"]
    assert local_times("0 * * * *", LONDON, "2026-10-25")[:3] == ["00:00 +0100", "01:00 +0100", "02:00 +0000"]


def test_a_day_that_was_left_out_is_fired_at_its_end() -> None:
    apia = ZoneInfo("Pacific/Apia")
    start = datetime(2011, 12, 30, 0, 0, tzinfo=UTC)
    found = list(slots(parse_cron("0 2 30 12 *"), apia, start, start + timedelta(days=2)))
    assert [slot.astimezone(apia).isoformat() for slot in found] == ["2011-12-31T00:00:00+14:00"]


FIELD = {
    "minute": st.sampled_from(["0", "*/15", "30", "5,35", "10-20/5", "*"]),
    "hour": st.sampled_from(["2", "*", "1-3", "*/6", "0", "1,2,3", "23"]),
    "day": st.sampled_from(["*", "1", "28-31", "*/7", "15,29"]),
    "month": st.sampled_from(["*", "3", "mar,oct,nov", "4-10"]),
    "weekday": st.sampled_from(["*", "sun", "1-5", "0", "7", "6,0"]),
}
CRONS = st.tuples(*FIELD.values()).map(" ".join)
MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(2037, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC))
CHANGES = st.sampled_from(
    [datetime(2026, 3, 8), datetime(2026, 3, 29), datetime(2026, 10, 4), datetime(2026, 10, 25), datetime(2026, 11, 1),
     datetime(2026, 4, 5), datetime(2026, 9, 6), datetime(2011, 12, 30), datetime(1972, 1, 7)]
).map(lambda moment: moment.replace(tzinfo=UTC) - timedelta(hours=18))  # fmt: skip


def searched(cron: Cron, zone: ZoneInfo, after: datetime, until: datetime) -> list[datetime]:
    """By going through the wall clock minute by minute: what it jumps over, it has passed at once."""
    found: list[datetime] = []
    moment = (after + timedelta(minutes=1)).replace(second=0, microsecond=0)
    passed = (moment - timedelta(minutes=1)).astimezone(zone).replace(tzinfo=None, fold=0)
    highest = max(
        (moment - timedelta(minutes=n)).astimezone(zone).replace(tzinfo=None, fold=0) for n in range(1, 26 * 60)
    )
    passed = max(passed, highest)
    while moment <= until:
        local = moment.astimezone(zone).replace(tzinfo=None, fold=0)
        named = False
        while passed < local:
            passed += timedelta(minutes=1)
            named |= cron.names_day(passed.date()) and passed.hour in cron.hours and passed.minute in cron.minutes
        if named:
            found.append(moment)
        moment += timedelta(minutes=1)
    return found


@settings(max_examples=40, deadline=None)
@given(CRONS, st.sampled_from(ZONES), MOMENTS | CHANGES)
def test_slots_are_those_a_clock_on_the_wall_would_strike(text: str, name: str, after: datetime) -> None:
    cron, zone = parse_cron(text), ZoneInfo(name)
    after = after.replace(second=0, microsecond=0)
    until = after + timedelta(hours=50)
    if any((after + timedelta(hours=n)).astimezone(zone).utcoffset() % timedelta(minutes=1) for n in (-27, 0, 50)):  # type: ignore[operator]
        return  # Liberia's clocks were 44 min 30 s off once: no minute begins with one there
    assert list(slots(cron, zone, after, until)) == searched(cron, zone, after, until)


@settings(max_examples=50, deadline=None)
@given(CRONS, st.sampled_from(ZONES), MOMENTS | CHANGES, st.lists(st.integers(0, 60 * 24 * 3), max_size=6))
def test_however_time_is_cut_up_every_slot_comes_once(text: str, name: str, after: datetime, cuts: list[int]) -> None:
    cron, zone = parse_cron(text), ZoneInfo(name)
    ends = sorted(after + timedelta(minutes=cut) for cut in [*cuts, 60 * 24 * 3])
    pieces = [slot for start, end in zip([after, *ends], ends, strict=False) for slot in slots(cron, zone, start, end)]
    assert pieces == list(slots(cron, zone, after, ends[-1]))


@given(st.datetimes(datetime(1971, 1, 1), datetime(2037, 1, 1)), st.sampled_from(ZONES))
def test_the_moment_of_a_local_time_is_the_first_at_which_the_clock_shows_it_or_more(
    local: datetime, name: str
) -> None:
    zone = ZoneInfo(name)
    moment = moment_of(local.replace(tzinfo=zone, microsecond=0))
    shown = moment.astimezone(zone).replace(tzinfo=None, fold=0)
    before = (moment - timedelta(seconds=1)).astimezone(zone).replace(tzinfo=None, fold=0)
    assert shown >= local.replace(microsecond=0)
    assert before < local.replace(microsecond=0) or before >= shown


def test_the_next_slots_are_found_however_rare() -> None:
    after = datetime(2026, 3, 1, tzinfo=UTC)
    assert [slot.year for slot in next_slots(parse_cron("0 0 29 2 *"), UTC, after, 3)] == [2028, 2032, 2036]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 2 * *", "has 5 fields"),
        ("61 2 * * *", "minute '61': must be within 0-59"),
        ("0 24 0 * *", "hour '24'.*; day of month '0'"),
        ("0 2 * foo *", "month 'foo': 'foo' is no number and no name"),
        ("0 5-2 * * *", "a range must rise"),
        ("*/0 2 * * *", "a step must be at least 1"),
        ("0 2 30 2 *", "names no day of any year"),
        ("", "has 5 fields"),
        ("٣ 2 * * *", "is no number"),
    ],
)
def test_a_mistake_names_its_field(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_cron(text)


def test_day_and_weekday_are_one_or_the_other_as_in_cron() -> None:
    cron = parse_cron("0 0 13 * fri")
    days = [datetime(2026, 11, n) for n in range(1, 31)]
    assert [day.day for day in days if cron.names_day(day)] == [6, 13, 20, 27]
    assert parse_cron("@daily") == parse_cron("0 0 * * *")
