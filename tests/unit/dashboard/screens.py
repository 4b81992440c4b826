"""What a tested screen says, as a reader would collect it."""

import json
from typing import Any

import pyarrow as pa  # pyright: ignore[reportMissingTypeStubs]
from streamlit.testing.v1 import AppTest

_KINDS = ("title", "subheader", "markdown", "caption", "text", "code", "info", "warning", "error", "success")


def said(app: AppTest) -> str:
    """Every text outside of tables and charts."""
    values = [str(element.value) for kind in _KINDS for element in getattr(app, kind)]
    figures = [f"{metric.label} {metric.value} {metric.delta}" for metric in app.metric]
    return "\n".join([*values, *figures, *links(app)])


def links(app: AppTest) -> list[str]:
    """Labels of links to other pages, without their colour."""
    return [link.label.removeprefix(":blue[").removesuffix("]") for link in app.page_link]


def addresses(app: AppTest) -> list[tuple[str, str]]:
    """Where those links lead: page and query."""
    return [(link.proto.page, link.proto.query_string) for link in app.page_link]


def rows(app: AppTest, number: int = 0) -> list[dict[str, Any]]:
    """One table, the first by default."""
    frame: Any = app.dataframe[number].value
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def charts(app: AppTest) -> list[Any]:
    """The definitions of all charts."""
    return [json.loads(chart.proto.spec) for chart in _charts(app)]


def chart_rows(app: AppTest, number: int = 0) -> list[dict[str, Any]]:
    """The data of one chart, the first by default."""
    arrow: Any = pa
    with arrow.ipc.open_stream(_charts(app)[number].proto.data.data) as stream:
        return stream.read_all().to_pylist()


def _charts(app: AppTest) -> list[Any]:
    found: Any = app.get("vega_lite_chart")
    return list(found)


def no_traceback(app: AppTest) -> None:
    """Nothing went wrong in a way the page did not expect."""
    assert [element.value for element in app.exception] == []
