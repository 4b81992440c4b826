"""The dashboard: `streamlit run main.py`, with PASSGRID_ANALYSIS naming the folder of the analysis file."""

from __future__ import annotations

import streamlit as st


def main() -> None:
    """Show the page the address names."""
    st.set_page_config(page_title="Passgrid", page_icon="📊", layout="wide")
    pages = [
        st.Page("runs_page.py", title="Runs", url_path="runs", default=True),
        st.Page("compare_page.py", title="Compare", url_path="compare"),
        st.Page("stages_page.py", title="Stages", url_path="stages"),
        st.Page("tools_page.py", title="Tools", url_path="tools"),
        st.Page("attempt_page.py", title="Attempt", url_path="attempt"),
        st.Page("drift_page.py", title="Drift", url_path="drift"),
    ]
    st.navigation(pages, position="top").run()


if __name__ == "__main__":
    main()
