from datetime import UTC, datetime, timedelta

from dashboard import number_text as numbers


def test_unknown_is_a_dash_and_never_zero() -> None:
    assert numbers.count(None) == numbers.rate(None) == numbers.dollars(None) == numbers.share(None) == "–"
    assert numbers.seconds(None) == numbers.size(None) == numbers.between(None, None) == numbers.compact(None) == "–"
    assert numbers.count(0) == "0"


def test_numbers_are_readable() -> None:
    assert numbers.count(1164) == "1,164"
    assert numbers.count(2.5) == "2.5"
    assert numbers.rate(0.2) == "0.200"
    assert numbers.between(0.1, 0.325) == "0.10–0.33"
    assert [numbers.compact(value) for value in (745, 24167, 1_250_000)] == ["745", "24.2k", "1.25M"]
    assert [numbers.dollars(value) for value in (0, 0.0123, 1234.5)] == ["$0.00", "$0.0123", "$1,234.50"]
    assert [numbers.size(value) for value in (984, 3064, 5_200_000)] == ["984 B", "3.06 kB", "5.2 MB"]


def test_a_unit_that_all_numbers_have_is_written_once() -> None:
    assert numbers.series(["171 ms", "317 ms", "320 ms"]) == "171 / 317 / 320 ms"
    assert numbers.series(["1.5", "2", "2"]) == "1.5 / 2 / 2"
    assert numbers.series(["100 ms", "2 s", "2 s"]) == "100 ms / 2 s / 2 s"
    assert numbers.series(["2 min 5 s", "3 min 5 s", "4 min 5 s"]) == "2 min 5 s / 3 min 5 s / 4 min 5 s"


def test_a_share_is_rounded_down() -> None:
    assert numbers.share(1.0) == "100 %"
    assert numbers.share(0.9999) == "99.9 %"
    assert numbers.share(0.9499) == "94.9 %"


def test_times_have_units() -> None:
    written = [numbers.milliseconds(value) for value in (0.047, 12.34, 231.2, 1534, 125_000)]
    assert written == ["0.047 ms", "12.3 ms", "231 ms", "1.53 s", "2 min 5 s"]


def test_ages() -> None:
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    ages = [numbers.age(now - timedelta(seconds=seconds), now) for seconds in (-5, 59, 60, 7200, 86_400)]
    assert ages == ["less than a minute ago"] * 2 + ["1 minute ago", "2 hours ago", "1 day ago"]
    assert numbers.age(None) == "at an unknown time"
