"""What holds in every format: withheld headlines, N/A beyond n, missing scenarios, and that text is only text."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree as Xml

import orjson
import pytest

from api.cli.report_table import report_text
from passgrid.report.document import report_document
from passgrid.report.gates import read_gates
from passgrid.report.html import report_html
from passgrid.report.junit import report_junit
from passgrid.report.markdown import MARK, report_markdown, safe
from passgrid.report.report import Report, baseline_axis, make_report
from passgrid.report.tool_use import ToolUse
from tests.unit.passgrid.report.arms import BROKEN, arm, many, name

FORMATS: dict[str, Callable[[Report], str]] = {
    "table": report_text,
    "json": lambda report: orjson.dumps(report_document(report)).decode(),
    "markdown": report_markdown,
    "junit": report_junit,
    "html": lambda report: report_html(report, {name("old"): [ToolUse("<b>tool</b>", 3, 1)]}),
}
HOSTILE = '<script>alert(1)</script> & "quoted" | [link](http://x) @team `code` \x00\x1b[31m\u202e'


def written(format: str, report: Report) -> str:
    return FORMATS[format](report)


@pytest.mark.parametrize("format", FORMATS)
def test_one_pass_and_three_errors_are_one_of_one_at_a_quarter_and_never_a_hundred_percent(format: str) -> None:
    text = written(format, make_report(["r1"], [arm(BROKEN)]))
    if format == "json":
        (found,) = orjson.loads(text)["arms"]
        assert (found["headline_withheld"], found["bounds"]) == (True, [0.25, 1.0])
        assert (found["valid"], found["wanted"], found["coverage"]) == (1, 4, 0.25)
        return
    assert "1 of 1 valid, coverage 25 %, 25–100 %" in text
    assert "1.000" not in text
    assert "withheld" in text


@pytest.mark.parametrize("format", FORMATS)
def test_k_above_n_is_not_available(format: str) -> None:
    passes = {f"s{i:02}": [True, False, True] for i in range(20)}
    report = make_report(["r1"], [arm({**passes, "short": [True, True, None]})])
    text = written(format, report)
    if format == "json":
        (found,) = orjson.loads(text)["arms"]
        assert (found["pass_at"]["2"] is None, found["pass_at"]["3"]) == (False, None)
        assert found["pass_hat_interval"]["3"] is None
    elif format == "junit":
        properties = {one.get("name"): one.get("value") for one in Xml.fromstring(text).iter("property")}
        assert (properties["pass@3"], properties["pass^3"]) == ("N/A", "N/A")
    else:
        assert text.count("N/A") == 2


@pytest.mark.parametrize("format", FORMATS)
def test_a_scenario_missing_in_one_arm_is_said(format: str) -> None:
    old, new = arm({"a": [True], "b": [True], "gone": [True]}, "old"), arm({"a": [True], "b": [True]}, "new")
    text = " ".join(written(format, make_report(["r1"], [old, new])).split())
    if format == "json":
        assert orjson.loads(text)["comparisons"][0]["missing_in_candidate"] == ["shop/gone"]
    elif format != "junit":  # where it is no test case of the arm
        assert "without a valid attempt in B: shop/gone" in text


@pytest.mark.parametrize("format", FORMATS)
def test_the_gate_and_the_verdict_in_words_are_told(format: str) -> None:
    arms = [many(20, 40, "old"), many(2, 40, "new")]
    text = written(format, make_report(["r1"], arms, baseline_axis("model=old"), read_gates(["pass@1:-5pt"])))
    assert "regression" in text
    assert "B is better on 0, worse on 18 of 40 scenarios; −45 points" in " ".join(text.split())


def test_hostile_text_is_text_in_html() -> None:
    report = make_report(["r1"], [arm({HOSTILE: [True, False]}, HOSTILE, reason=HOSTILE), many(1, 2, "old")])
    page = report_html(report, {name(HOSTILE): [ToolUse(HOSTILE, 3, 1)]})
    tags = set(re.findall(r"<(\w+)", page))
    assert "script" not in tags
    assert tags.isdisjoint({"a", "iframe", "img", "object", "form", "b"})
    assert not re.search(r"[\x00\x1b\u202e]", page)
    assert page.count("&lt;script&gt;") >= 5


def test_hostile_text_is_text_in_markdown() -> None:
    comment = report_markdown(make_report(["r1"], [arm({"a": [False]}, HOSTILE, reason=HOSTILE)]))
    assert "<script" not in comment
    assert "[link](" not in comment
    assert "@team" not in comment
    assert "http://" not in comment
    assert " | [" not in comment
    assert safe("a\n\n# b") == "a &#35; b"


def test_the_markdown_begins_with_its_mark() -> None:
    assert report_markdown(make_report(["r1"], [many(1, 2, "a")])).splitlines()[0] == MARK


def test_a_comment_stays_below_what_github_takes() -> None:
    arms = [arm({"a": [False] * 5}, f"model-{i}" + "x" * 300, reason="long " * 400) for i in range(60)]
    assert len(report_markdown(make_report(["r1"], arms)).encode()) < 65_536


def test_everything_fits_eighty_columns() -> None:
    arms = [many(20, 40, "an-old-model-with-a-long-name"), many(2, 40, "a-new-model-with-a-long-name")]
    gates = read_gates(["pass@1:-5pt", "cost:+10%"])
    lines = report_text(make_report(["r1"], arms, baseline_axis("model=" + arms[0].name.model), gates)).splitlines()
    assert max(map(len, lines)) <= 80


def test_junit_tells_failures_from_errors_and_from_what_was_not_run() -> None:
    passes = {"good": [True, True], "bad": [True, False], "mixed": [False, None], "broken": [True, None]}
    document = Xml.fromstring(report_junit(make_report(["r1"], [arm(passes)])))
    found = {case.get("name"): [child.tag for child in case] for case in document.iter("testcase")}
    assert found == {"good": [], "bad": ["failure"], "mixed": ["failure"], "broken": ["error"]}
    assert {key: document.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "2",
        "errors": "1",
        "skipped": "0",
    }


def test_junit_skips_what_was_not_run_and_holds_no_character_that_xml_cannot() -> None:
    from passgrid.report.arms import arm_reports
    from tests.unit.passgrid.report.test_arms import fact

    facts = [fact("a", 0, None), fact("b", 0, "cancelled"), fact("c", 0, "failed", reason=HOSTILE + "\ud800")]
    text = report_junit(make_report(["r1"], arm_reports(facts)))
    document = Xml.fromstring(text.encode())
    assert [[child.tag for child in case] for case in document.iter("testcase")] == [
        ["skipped"],
        ["skipped"],
        ["failure"],
    ]
