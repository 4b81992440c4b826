"""What tools, models and submitters write is never markup, and never breaks a page."""

import pytest

from tests.unit.dashboard.analysis_files import AnalysisFiles, run_id
from tests.unit.dashboard.conftest import Open
from tests.unit.dashboard.screens import no_traceback, rows, said

SCRIPT = "<script>document.title='owned'</script>"
MARKDOWN = "**bold** ![x](http://evil.example/x.png) :material/home: $x$ # h"
HOSTILE = f"{SCRIPT}\0{MARKDOWN}\u202e{'x' * 3000}"


@pytest.fixture
def hostile(files: AnalysisFiles) -> str:
    """Hostile in every place a foreign text can be."""
    name = f"{SCRIPT} {MARKDOWN}"
    run = files.run(label=name, mode="live")
    key = files.attempt(
        run, name, 0, "failed", suite=name, model=name, prompt=name, target=name, tags=[name], reason=HOSTILE
    )
    files.tool_call(key, 0, name, arguments=HOSTILE, answered=name, error=True, error_text=HOSTILE)
    files.check(key, name, False, kind=name, detail=HOSTILE, imported=True)
    files.check(key, name + "2", True, stage=True, required=False)
    files.other("tries", key, fence=1, worker=name, reason=name)
    files.transcript(
        key,
        [
            {"role": name, "content": HOSTILE},
            {"role": "user", "content": [{"image": "data:image/svg+xml,<svg/onload=alert(1)>"}, HOSTILE]},
            {"role": "assistant", "content": HOSTILE, "tool_calls": [{"name": name, "arguments": HOSTILE}, 7, None]},
            {"role": "tool", "name": name, "content": HOSTILE, "outcome": name, "library": name},
            {"role": "tool", "name": None, "content": "[" * 20_000},
            {"role": "tool", "name": "big", "content": "y" * 5_000_000},
            {"role": "tool", "name": "empty", "content": ""},
            {"content": None},
        ],
    )
    files.publish()
    return run


PAGES = ("runs_page.py", "compare_page.py", "attempt_page.py")


@pytest.mark.parametrize("page", PAGES)
def test_no_page_renders_it(hostile: str, open_page: Open, page: str) -> None:
    app = open_page(page, **({} if page == "runs_page.py" else {"run": run_id(1)}))
    no_traceback(app)
    for element in (*app.markdown, *app.caption, *app.subheader, *app.title):
        assert "<script>" not in element.value.replace("\\<", "&lt;")
        assert "![x]" not in element.value
        assert ":material/" not in element.value
        assert not getattr(element.proto, "allow_html", False)
    for link in (*app.page_link, *app.expander):
        assert "<script>" not in link.label.replace("\\<", "&lt;")
        assert "**bold" not in link.label


def test_texts_are_shown_as_they_are(hostile: str, open_page: Open) -> None:
    app = open_page("attempt_page.py", run=run_id(1))
    shown = [text.value for text in app.text]
    assert any(SCRIPT in text and "␀" in text and "⟨U+202E⟩" in text for text in shown)
    assert all("\0" not in text and "\u202e" not in text for text in shown)
    assert all("\0" not in code.value for code in app.code)


def test_long_texts_are_folded_and_cut(hostile: str, open_page: Open) -> None:
    app = open_page("attempt_page.py", run=run_id(1))
    assert max(len(code.value) for code in app.code) <= 50_000
    assert "The first 50,000 of 5,000,000 characters." in said(app)
    assert "Result: 5,000,000 characters, 1 lines" in [expander.label for expander in app.expander]


def test_tables_hold_it_as_plain_text(hostile: str, open_page: Open) -> None:
    (row,) = rows(open_page("runs_page.py"))
    assert row["label"].startswith("<script>")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("value", [SCRIPT, "\0", "x" * 5000, "' OR 1=1 --", "../../etc/passwd", "%"])
def test_addresses_are_foreign_text_too(hostile: str, open_page: Open, page: str, value: str) -> None:
    query = dict.fromkeys(("run", "attempt", "arm", "suite", "tag", "scenario", "shared"), value)
    no_traceback(open_page(page, **query))
