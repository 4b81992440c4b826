# One image for every part of Passgrid: the API, the scheduler, the workers, the exporter and the dashboard.
#
# Only what pyproject.toml asks for at run time is installed, in the versions of requirements.lock and checked against
# its hashes: the lock is a constraint here, so the tools for development that it also holds stay outside.

FROM python:3.11-slim AS build
RUN pip install --no-cache-dir --root-user-action=ignore uv==0.13.9
ENV UV_NO_CACHE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_COMPILE_BYTECODE=1 \
    VIRTUAL_ENV=/opt/passgrid
WORKDIR /app
RUN uv venv --python /usr/local/bin/python3 "$VIRTUAL_ENV"

# MCP servers that suites start as commands; those named here have to be in the lock. The demo suite uses git.
ARG MCP_SERVERS="mcp-server-git mcp-server-time"
COPY pyproject.toml requirements.lock ./
RUN uv pip install --verify-hashes --constraints requirements.lock --requirements pyproject.toml $MCP_SERVERS

# Editable: migrations (alembic/) and the library of suites (scenarios/) are found beside the packages, as in a
# checkout.
COPY README.md LICENSE alembic.ini ./
COPY alembic alembic
COPY passgrid passgrid
COPY api api
COPY workers workers
COPY dashboard dashboard
COPY scenarios scenarios
RUN uv pip install --no-deps --editable . \
    && "$VIRTUAL_ENV/bin/python" -m compileall -q passgrid api workers dashboard scenarios


FROM python:3.11-slim
# git: for workspaces that are repositories, and for mcp-server-git.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --user-group --uid 10001 --home-dir /var/lib/passgrid --create-home passgrid \
    && install --directory --owner passgrid --group passgrid /var/lib/passgrid/analysis
COPY --from=build /opt/passgrid /opt/passgrid
COPY --from=build /app /app
ENV PATH=/opt/passgrid/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PASSGRID_HOME=/var/lib/passgrid \
    PASSGRID_ANALYSIS=/var/lib/passgrid/analysis
WORKDIR /app
USER passgrid
CMD ["passgrid", "--help"]
