"""Whether what exists after the attempt is what should: files, artifacts, what servers say."""

from __future__ import annotations

from passgrid.conditions import ArtifactCheck, EndStateCheck, FileCheck, ReadBack
from passgrid.differences import EXPECTATION, first_difference
from passgrid.json_paths import at_path
from passgrid.scoring.evidence import Artifact, Evidence
from passgrid.scoring.texts import as_text, match_text
from passgrid.scoring.verdict import Verdict


def file(wanted: FileCheck, evidence: Evidence) -> Verdict:
    """A file of the workspace."""
    text = evidence.files.get(wanted.path)
    change = evidence.changes.get(wanted.path, "none")
    if wanted.change is not None and change != wanted.change:
        found = f"is {change}" if change != "none" else "is as it was"
        return False, f"{wanted.path} {found}, not {wanted.change}"
    if not wanted.exists or wanted.change == "deleted":
        return text is None, f"{wanted.path} exists"
    if text is None:
        return False, f"{wanted.path} does not exist"
    return match_text(wanted, text)


def artifact(wanted: ArtifactCheck, evidence: Evidence) -> Verdict:
    """So many artifacts of a kind, with these fields."""
    made = [one for one in evidence.artifacts if one.kind == wanted.kind and one.change == wanted.change]
    differences = [_difference(wanted, one) for one in made]
    fitting = differences.count(None)
    if wanted.at_least <= fitting and (wanted.at_most is None or fitting <= wanted.at_most):
        return True, ""
    what = f"{fitting} of kind {wanted.kind} {wanted.change}"
    if fitting < wanted.at_least:
        why = next((difference for difference in reversed(differences) if difference is not None), None)
        return False, f"{what}, at least {wanted.at_least} wanted" + (f"; another has {why}" if why else "")
    return False, f"{what}, at most {wanted.at_most} allowed"


def _difference(wanted: ArtifactCheck, one: Artifact) -> str | None:
    for path, value in wanted.where.items():
        try:
            found = at_path(one.value, path)
        except LookupError:
            return f"no {path}"
        if difference := first_difference(value, found, path, EXPECTATION):
            return difference
    return None


def read_back(wanted: ReadBack, name: str, evidence: Evidence) -> Verdict:
    """What a server said when it was asked afterwards."""
    said = evidence.read_backs.get(name)
    if said is None:
        return None, "nobody asked: what exists afterwards is known of live servers, and of recordings made with them"
    if "error" in said:
        return False, f"asked, and it erred: {said['error']}"
    try:
        found = at_path(said["value"], wanted.path)
    except LookupError as missing:
        return False, f"the answer has no {missing.args[0]}"
    asked = "value" in wanted.model_fields_set
    if asked and (difference := first_difference(wanted.value, found, wanted.path or "answer", EXPECTATION)):
        return False, difference
    return match_text(wanted, as_text(found))


def end_state(wanted: EndStateCheck, evidence: Evidence) -> Verdict:
    """The platform's state, compared with the reference's or at one place."""
    read = evidence.end_state
    if not read:
        return None, "nobody read it: what exists afterwards is known of live servers, and of recordings made with them"
    if "error" in read:
        return None, f"it could not be read: {read['error']}"
    if wanted.reference:
        differences = read.get("differences", ())
        return read.get("equal"), "; ".join(differences) or "nobody made the reference's calls"
    if "state" not in read:
        return None, "the state is too large to be kept: compare it with a reference, or name its parts"
    try:
        found = at_path(read["state"], wanted.path)
    except LookupError as missing:
        return False, f"the state has no {missing.args[0]}"
    difference = first_difference(wanted.value, found, wanted.path or "state", EXPECTATION)
    return difference is None, difference or ""
