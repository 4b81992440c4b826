"""Suites that are uploaded, and runs of them."""

from __future__ import annotations

import base64
import threading
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from passgrid.access import Role
from passgrid.identity import content_hash
from tests.integration.api.callers import As
from tests.integration.runs import rows, value
from tests.unit.passgrid.suites import write_suite


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    """A suite as a client sends it."""
    return files_below(write_suite(tmp_path / "author", name="till"))


def files_below(folder: Path) -> dict[str, Any]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def put(client: TestClient, name: str, files: dict[str, Any]) -> Any:
    return client.put(f"/suites/{name}", json={"files": files})


def test_an_uploaded_suite_is_listed_and_submitted_by_name(
    as_role: As, engine: sa.Engine, files: dict[str, Any]
) -> None:
    made = put(as_role(Role.AUTHOR), "till", files)
    assert (made.status_code, made.json()["changed"]) == (200, True)
    listed = as_role(Role.READ).get("/suites").json()
    assert [(one["name"], one["source"], one["scenario_files"]) for one in listed] == [
        ("shop", "library", ["count-0"]),
        ("till", "uploaded", ["count"]),
    ]
    one = as_role(Role.READ).get("/suites/till").json()
    assert one["uploaded_by"] == "author-token"
    assert one["files"]["suite.yaml"] == content_hash(b"prompt: plain\n")
    body = {"suites": ["till", "shop"], "models": ["recorded:gpt"], "k": 2}
    submitted = as_role(Role.SUBMIT).post("/runs", json=body)
    assert (submitted.status_code, submitted.json()["new_attempts"]) == (201, 4)
    assert value(engine, "SELECT spec -> 'suites' FROM runs") == ["till", "shop"], "no path of this machine is kept"


def test_an_uploaded_suite_plans_the_same_run_as_the_folder_it_came_from(
    as_role: As, library: Path, files: dict[str, Any]
) -> None:
    put(as_role(Role.AUTHOR), "till", files)
    body = {"suites": ["till"], "models": ["recorded:gpt"], "k": 1}
    uploaded = as_role(Role.SUBMIT).post("/runs", json=body, params={"dry_run": True}).json()["run"]
    write_suite(library, name="till")
    assert as_role(Role.SUBMIT).post("/runs", json=body, params={"dry_run": True}).json()["run"] == uploaded


def test_the_same_upload_again_changes_nothing_and_another_replaces_it(as_role: As, files: dict[str, Any]) -> None:
    author = as_role(Role.AUTHOR)
    first = put(author, "till", files).json()
    assert put(author, "till", files).json() == {**first, "changed": False}
    checks = {"checks.py": {"base64": base64.b64encode(b"# \xc3\xa9\n").decode()}}
    second = put(author, "till", files | checks).json()
    assert second["changed"]
    assert second["version"] != first["version"]
    assert set(second["files"]) - set(first["files"]) == {"checks.py"}


ESCAPES = [
    ("../out.yaml", "plain path"),
    ("a/../../out.yaml", "plain path"),
    ("/etc/passwd", "plain path"),
    ("a//b", "plain path"),
    ("./a", "plain path"),
    ("", "plain path"),
    ("a\\..\\b", "backslash"),
    ("a\0b", "cannot be printed"),
    ("a\nb", "cannot be printed"),
    (".git/hooks/post-checkout", "hidden"),
    ("x" * 600, "longer"),
    ("é" * 100, "a part longer"),
    ("suite.yaml/x", "a file and a folder at once"),
]


def test_a_path_that_could_escape_is_refused(as_role: As, files: dict[str, Any]) -> None:
    for path, why in ESCAPES:
        found = put(as_role(Role.AUTHOR), "till", files | {path: "x"})
        assert found.status_code == 422, path
        assert why in found.text, path
    assert as_role(Role.READ).get("/suites/till").status_code == 404


def test_every_problem_of_an_upload_is_told_by_the_authors_paths(as_role: As, engine: sa.Engine) -> None:
    broken = {"suite.yaml": "prompt: 7\n", "a.yaml": "task: [\n", "b.yaml": "tusk: x\n"}
    found = put(as_role(Role.AUTHOR), "till", {**broken, "cassettes/gpt/plain/a/0.json": "{}"})
    assert found.status_code == 422
    places = sorted(problem.split(":")[0] for problem in found.json()["problems"])
    assert set(places) == {"till/suite.yaml", "till/a.yaml", "till/b.yaml", "till/cassettes/gpt/plain/a/0.json"}
    assert value(engine, "SELECT count(*) FROM suites") == 0
    assert value(engine, "SELECT count(*) FROM blobs") == 0


def test_names_of_the_library_are_taken(as_role: As, files: dict[str, Any]) -> None:
    for name in ("shop", "prompts"):
        assert put(as_role(Role.AUTHOR), name, files).status_code == 422, name


def test_names_that_are_no_names_are_refused(as_role: As, files: dict[str, Any]) -> None:
    for name in ("..", ".x", "a%2Fb", "a%00", "%ED%A0%80"):
        assert put(as_role(Role.AUTHOR), name, files).status_code in {400, 404, 405, 422}, name


def test_a_prompt_that_is_not_there_is_told_at_the_upload(as_role: As, files: dict[str, Any]) -> None:
    found = put(as_role(Role.AUTHOR), "till", files | {"suite.yaml": "prompt: gone\n"})
    assert found.status_code == 422
    assert "no such prompt; there are: plain" in found.text


def test_what_is_not_base64_is_told(as_role: As) -> None:
    found = put(as_role(Role.AUTHOR), "till", {"a.bin": {"base64": "?"}, "b.bin": {"base64": "!"}})
    assert [problem[:12] for problem in found.json()["problems"]] == ["files: 'a.bi", "files: 'b.bi"]


def test_suites_that_are_not_there_are_told_with_everything_else(as_role: As) -> None:
    body = {"suites": ["shop", "gone"], "models": ["gpt"], "k": 1}
    found = as_role(Role.SUBMIT).post("/runs", json=body).json()["problems"]
    assert found[0] == "suites: 'gone': no such suite (there are: shop)"
    assert len(found) == 2
    alone = as_role(Role.SUBMIT).post("/runs", json={**body, "suites": ["gone"]}).json()["problems"]
    assert alone == [found[0]]


def test_two_submissions_of_one_matrix_at_once_are_one_run(
    as_role: As, engine: sa.Engine, files: dict[str, Any]
) -> None:
    put(as_role(Role.AUTHOR), "till", files)
    body = {"suites": ["till"], "models": ["recorded:gpt"], "k": 2}
    client = as_role(Role.SUBMIT)
    answers: list[Any] = []
    threads = [threading.Thread(target=lambda: answers.append(client.post("/runs", json=body))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [201] * 4
    assert len({answer.json()["run"] for answer in answers}) == 1
    assert sorted(answer.json()["new_attempts"] for answer in answers) == [0, 0, 0, 2]
    assert rows(engine, "SELECT wanted, k FROM runs") == [(2, 2)]
    assert value(engine, "SELECT count(*) FROM attempts") == 2
