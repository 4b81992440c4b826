"""What `passgrid doctor` prints: everything worth looking at, each problem with its remedy."""

from api.stack.errors import StackError
from api.stack.finding import Finding
from api.stack.home import Home
from api.stack.machine_health import machine_findings, optional_findings
from api.stack.stack_health import stack_findings

__all__ = ["Finding", "diagnose"]


def diagnose(home: Home | None = None) -> tuple[Finding, ...]:
    """Look at the machine and the stack, starting nothing. Never raises for a broken stack: a problem is a finding."""
    try:
        home = home or Home.from_environment()
    except StackError as error:
        return (Finding("home", False, error.problem, error.remedy),)
    findings = list(machine_findings(home))
    try:
        findings.extend(stack_findings(home))
    except StackError as error:
        findings.append(Finding("stack", False, error.problem, error.remedy))
    return (*findings, *optional_findings())
