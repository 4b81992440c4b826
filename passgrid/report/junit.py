"""A report as JUnit XML, for what shows test results: a suite for each arm, a test case for each of its scenarios.

A case fails where a valid attempt did not pass. Where none failed but some attempt broke (infrastructure, a replay that
missed), it is an error: an outage is no failure of the agent, and no success. What was not run is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree as Xml

from passgrid.report.arms import ArmReport, ScenarioTally
from passgrid.report.matching import arm_text
from passgrid.report.report import Report
from passgrid.report.words import NA, comparison_text, headline

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NOT_RUN = frozenset({"unfinished", "cancelled"})


def report_junit(report: Report) -> str:
    """The whole document, one line for each element."""
    root = Xml.Element("testsuites", name="passgrid")
    for arm in report.arms:
        root.append(_suite(report, arm))
    if report.gated:
        root.append(_gates(report))
    totals = {
        key: sum(int(suite.get(key, "0")) for suite in root) for key in ("tests", "failures", "errors", "skipped")
    }
    _set(root, {key: str(total) for key, total in totals.items()})
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode")


def _suite(report: Report, arm: ArmReport) -> Xml.Element:
    name = arm_text(arm.name)
    cases = [_case(name, one) for one in arm.scenarios]
    suite = Xml.Element("testsuite")
    counts = {kind: sum(case.find(tag) is not None for case in cases) for kind, tag in _KINDS.items()}
    _set(suite, {"name": f"{report.letter(arm)} {name}", "tests": str(len(cases)), **_texts(counts)})
    properties = Xml.SubElement(suite, "properties")
    for key, value in _properties(report, arm).items():
        _set(Xml.SubElement(properties, "property"), {"name": key, "value": value})
    suite.extend(cases)
    return suite


_KINDS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def _gates(report: Report) -> Xml.Element:
    """A suite of the gates: a regression is a failure, what is inconclusive an error."""
    suite = Xml.Element("testsuite", name="gate")
    for one in report.judged:
        arms = f"{report.letter(one.comparison.candidate)} against {report.letter(one.comparison.baseline)}"
        case = Xml.SubElement(suite, "testcase")
        _set(case, {"classname": "gate", "name": f"{one.gate.text}, {arms}"})
        if one.verdict.verdict != "pass":
            tag = "failure" if one.verdict.verdict == "regression" else "error"
            _set(Xml.SubElement(case, tag), {"message": one.verdict.reason, "type": one.verdict.verdict})
    cases = suite.findall("testcase")
    counts = {kind: sum(case.find(tag) is not None for case in cases) for kind, tag in _KINDS.items()}
    _set(suite, {"tests": str(len(cases)), **_texts(counts)})
    return suite


def _texts(counts: Mapping[str, int]) -> dict[str, str]:
    return {key: str(count) for key, count in counts.items()}


def _properties(report: Report, arm: ArmReport) -> dict[str, str]:
    found = {"run": arm.name.run, "label": arm.name.label, "mode": arm.name.mode, "summary": headline(arm)}
    if arm.name.imported_from:
        found["imported_from"] = arm.name.imported_from
    for sign, curve in (("@", arm.pass_at), ("^", arm.pass_hat)):
        points = {point.k: point for point in curve.points}
        for k in range(1, arm.most_wanted + 1):
            value = "withheld" if arm.coverage.headline_withheld else f"{points[k].value:.6f}" if k in points else ""
            found[f"pass{sign}{k}"] = value if k in points else NA
    for pair in report.comparisons:
        if pair.candidate.name == arm.name:
            letters = report.letter(pair.baseline), report.letter(pair.candidate)
            found[f"against {letters[0]}"] = comparison_text(pair, *letters)
    return found


def _case(arm: str, one: ScenarioTally) -> Xml.Element:
    case = Xml.Element("testcase")
    _set(case, {"classname": f"{arm} / {one.suite}", "name": one.scenario})
    mean = one.used.get("duration_s")
    if mean is not None:
        case.set("time", f"{mean * one.valid:.3f}")
    summary = f"{one.passed} of {one.valid} valid attempts passed, {one.wanted} wanted"
    broken = one.wanted - one.valid
    if one.passed < one.valid:
        _tell(case, "failure", summary, one)
    elif broken and set(one.outcomes) - NOT_RUN - {"passed"}:
        _tell(case, "error", f"{broken} of {one.wanted} attempts broke; {summary}", one)
    elif broken:
        _set(Xml.SubElement(case, "skipped"), {"message": f"{broken} of {one.wanted} attempts were not run; {summary}"})
    return case


def _tell(case: Xml.Element, tag: str, message: str, one: ScenarioTally) -> None:
    kinds = ", ".join(f"{count} {outcome}" for outcome, count in sorted(one.outcomes.items()))
    element = Xml.SubElement(case, tag)
    _set(element, {"message": message, "type": kinds})
    element.text = _xml(
        "\n".join(f"{found.count} x {found.reason} (attempt {found.example[:12]})" for found in one.reasons)
    )


def _set(element: Xml.Element, attributes: Mapping[str, str]) -> None:
    for key, value in attributes.items():
        element.set(key, _xml(value))


def _xml(text: str) -> str:
    """Without the characters that XML cannot hold, whatever a tool wrote."""
    return _NOT_XML.sub("\ufffd", text)
