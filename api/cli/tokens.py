"""`passgrid token`: who may use the HTTP API over TCP."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from api.cli.options import Json, print_json

TokenName = Annotated[str, typer.Argument(metavar="NAME", help="Whose token it is; what the audit calls its user.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    tokens = typer.Typer(no_args_is_help=True, help="Give, list and revoke tokens of the HTTP API.")
    tokens.command("create", epilog="Example: passgrid token create ci --role submit --days 90")(create)
    tokens.command("list", epilog="Example: passgrid token list --json")(list_all)
    tokens.command("revoke", epilog="Example: passgrid token revoke ci")(revoke)
    app.add_typer(tokens, name="token")


def create(
    name: TokenName,
    role: Annotated[str, typer.Option(help="read, submit, author or admin; each may do what those before it may.")],
    days: Annotated[int | None, typer.Option(help="Days until it ends; never when absent.")] = None,
    json: Json = False,
) -> None:
    """Make a token and print it, this once: only its hash is kept."""
    from api.stack.join import joined_stack
    from api.tokens import check_wanted, create_locally, token_document
    from passgrid.warehouse.engine import make_engine

    check_wanted(name, role, days)
    with joined_stack() as addresses:
        made = create_locally(make_engine(addresses.database_url), name, role, days)
    if json:
        print_json({"token": made.text, **token_document(made.stored)})
        return
    print(made.text)
    ends = f"until {made.stored.expires_at:%Y-%m-%d}" if made.stored.expires_at else "until it is revoked"
    print(f"token {name}, role {role}, {ends}; it is not shown again", file=sys.stderr)


def list_all(json: Json = False) -> None:
    """Every token ever given, without its secret."""
    from api.stack.join import joined_stack
    from api.tokens import token_document
    from passgrid.warehouse.access import list_tokens
    from passgrid.warehouse.engine import make_engine

    with joined_stack() as addresses, make_engine(addresses.database_url).connect() as connection:
        documents = [token_document(token) for token in list_tokens(connection)]
    if json:
        print_json(documents)
    else:
        _print_table(documents)


def revoke(name: TokenName, json: Json = False) -> None:
    """Put a token out of force at once, for good."""
    from api.stack.join import joined_stack
    from api.tokens import revoke_locally, token_document
    from passgrid.warehouse.engine import make_engine

    with joined_stack() as addresses:
        revoked = revoke_locally(make_engine(addresses.database_url), name)
    if json:
        print_json(token_document(revoked))
    else:
        print(f"token {name} is revoked")


def _print_table(documents: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("name", "role", "state", "created", "last used", "ends", box=None, pad_edge=False)
    for one in documents:
        times = [one["created_at"], one["last_used_at"], one["expires_at"]]
        table.add_row(one["name"], one["role"], one["state"], *(f"{at:%Y-%m-%d %H:%M}" if at else "-" for at in times))
    Console().print(table if documents else "there is no token; make one with: passgrid token create NAME --role ROLE")
