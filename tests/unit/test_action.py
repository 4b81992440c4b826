"""action.yml and the workflows: what they name is there, nothing typed in becomes a command, one comment is edited."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
MARK = "<!-- passgrid-report -->"


def workflow(name: str) -> dict[Any, Any]:
    return yaml.safe_load(WORKFLOWS[name].read_text())


def steps(document: dict[Any, Any]) -> list[dict[str, Any]]:
    if "runs" in document:
        return document["runs"]["steps"]
    return [step for job in document["jobs"].values() for step in job["steps"]]


def test_there_are_three_workflows_and_each_starts_as_it_should() -> None:
    assert set(WORKFLOWS) == {"replay", "nightly", "compare"}
    # YAML reads the key `on` as true.
    assert "pull_request" in workflow("replay")[True]
    assert re.fullmatch(r"\d+ \d+ \* \* \*", workflow("nightly")[True]["schedule"][0]["cron"])
    assert {"model", "target"} <= set(workflow("compare")[True]["workflow_dispatch"]["inputs"])


@pytest.mark.parametrize("name", ["replay", "nightly", "compare"])
def test_a_workflow_is_bounded_in_time_and_rights_and_uses_inputs_that_are_there(name: str) -> None:
    document = workflow(name)
    assert document["permissions"]
    for job in document["jobs"].values():
        assert job["runs-on"]
        assert job["timeout-minutes"]
    own = [step for step in steps(document) if step.get("uses") == "./"]
    assert len(own) == 1
    assert set(own[0]["with"]) <= set(ACTION["inputs"])
    required = {key for key, value in ACTION["inputs"].items() if value.get("required")}
    assert required <= set(own[0]["with"])


def test_every_input_has_a_description_and_reaches_the_script() -> None:
    script = (ROOT / "scripts" / "action.sh").read_text()
    passed = {key: value for step in steps(ACTION) for key, value in step.get("env", {}).items()}
    used = {key for key in passed if key.startswith("INPUT_")}
    assert used == set(re.findall(r"INPUT_[A-Z_]+", script))
    for key, value in ACTION["inputs"].items():
        assert value["description"]
        assert any(f"inputs.{key} " in f"{text} ".replace("}", " ") for text in passed.values()) or key == "out"


@pytest.mark.parametrize("path", [ROOT / "action.yml", *WORKFLOWS.values()], ids=lambda path: path.name)
def test_nothing_typed_in_becomes_part_of_a_command(path: Path) -> None:
    for step in steps(yaml.safe_load(path.read_text())):
        assert "${{" not in step.get("run", "")
        if "run" in step and path.name == "action.yml":
            assert step["shell"] == "bash"


FAKE_GH = """#!/usr/bin/env python3
import json, os, pathlib, subprocess, sys
store = pathlib.Path(os.environ["STORE"])
comments = json.loads(store.read_text())
arguments = sys.argv[1:]
method = arguments[arguments.index("--method") + 1] if "--method" in arguments else "GET"
if method == "GET":
    mine = [c for c in comments if c["login"] == os.environ["AUTHOR"] and c["body"].startswith(os.environ["MARK"])]
    print(*[c["id"] for c in mine], sep="\\n")
else:
    field = arguments[arguments.index("--field") + 1]
    body = pathlib.Path(field.removeprefix("body=@")).read_text()
    if method == "POST":
        comments.append({"id": len(comments) + 1, "login": "github-actions[bot]", "body": body})
    else:
        number = int(next(a for a in arguments if "/comments/" in a).rsplit("/", 1)[1])
        comments[number - 1]["body"] = body
    store.write_text(json.dumps(comments))
"""


def post(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    gh = folder / "gh"
    gh.write_text(FAKE_GH)
    gh.chmod(0o755)
    (folder / "report.md").write_text(text)
    environment = {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "STORE": str(folder / "comments.json"),
        "REPOSITORY": "o/r",
        "NUMBER": "7",
    }
    command = ["bash", str(ROOT / "scripts" / "post_comment.sh"), str(folder / "report.md")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=20)


def test_the_comment_is_edited_and_not_repeated_and_nobody_elses_is_touched(tmp_path: Path) -> None:
    theirs = [
        {"id": 1, "login": "somebody", "body": f"{MARK}\nmine"},
        {"id": 2, "login": "github-actions[bot]", "body": "x"},
    ]
    (tmp_path / "comments.json").write_text(json.dumps(theirs))
    for text in ("first", "second"):
        done = post(tmp_path, f"{MARK}\n{text}")
        assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "comments.json").read_text())
    assert found[:2] == theirs
    assert [one["body"] for one in found[2:]] == [f"{MARK}\nsecond"]


def test_a_file_without_the_mark_is_not_posted(tmp_path: Path) -> None:
    (tmp_path / "comments.json").write_text("[]")
    done = post(tmp_path, "hello")
    assert done.returncode == 2
    assert "no mark of a report" in done.stderr
