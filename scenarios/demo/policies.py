"""Three scripted agents of different skill. They are no language models, and are labelled as scripted everywhere.

Each scenario is a script: a generator that yields calls and answers, and gets the results of its calls back. How often
an agent slips depends on its skill, and is halved by a prompt that asks for care.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from passgrid import Call, PolicyTurn, policy

Script = Generator[Call | str, Any, None]
Slip = Callable[[], bool]


@policy("thorough")
def thorough(turn: PolicyTurn) -> str | Call | list[Call]:
    """Slips rarely."""
    return play(turn, slips=0.06)


@policy("quick")
def quick(turn: PolicyTurn) -> str | Call | list[Call]:
    """Slips now and then."""
    return play(turn, slips=0.25)


@policy("sloppy")
def sloppy(turn: PolicyTurn) -> str | Call | list[Call]:
    """Slips often."""
    return play(turn, slips=0.5)


def play(turn: PolicyTurn, slips: float) -> str | Call | list[Call]:
    """Go one step on in the scenario's script."""
    if "script" not in turn.memory:
        chance = slips / 2 if "Be careful" in turn.system else slips
        turn.memory["script"] = SCRIPTS[turn.scenario](lambda: turn.rng.random() < chance)
        return next(turn.memory["script"])
    last = turn.messages[-1]
    return turn.memory["script"].send(last["content"] if last["role"] == "tool" else None)


def count_stock(slip: Slip) -> Script:
    if slip():
        yield Call("get_article", {"sku": "M8-BOLT"})
    article = yield Call("get_article", {"sku": "BOLT-08"})
    yield f"There are {article['quantity'] - (20 if slip() else 0)} M8 bolts in stock."


def reorder_low(slip: Slip) -> Script:
    articles = yield Call("list_articles")
    low = next(one for one in articles if one["quantity"] < one["reorder_level"])
    missing = low["reorder_level"] - low["quantity"]
    if slip():
        yield Call("place_order", {"sku": low["sku"], "quantity": 0})
    ordered = yield Call("place_order", {"sku": low["sku"], "quantity": missing // 2 if slip() else missing})
    yield f"{low['name']} was low; I ordered {ordered['ordered']}, so there are {ordered['quantity']} now."


def cheapest_supplier(slip: Slip) -> Script:
    found = yield Call("search", {"text": "washer"})
    suppliers = yield Call("list_suppliers", {"sku": found[0]["sku"]})
    ranked = sorted(suppliers, key=suppliers.__getitem__)
    yield f"The cheapest supplier is {ranked[-1] if slip() else ranked[0]}."


def fix_price(slip: Slip) -> Script:
    yield Call("get_article", {"sku": "HOOK-12"})
    if slip():
        yield Call("set_price", {"sku": "HOOK-12", "price": 0})
    yield Call("set_price", {"sku": "HOOK-12", "price": 145 if slip() else 1.45})
    if not slip():
        article = yield Call("get_article", {"sku": "HOOK-12"})
        yield f"The price of HOOK-12 is {article['price']:.2f} now; I read it again to be sure."
    yield "The price of HOOK-12 is 1.45 now."


def unknown_article(slip: Slip) -> Script:
    yield Call("search", {"text": "M9 bolt"})
    if slip():
        yield "There are 420 M9 bolts in stock."
    yield "We do not carry M9 bolts: there is no such article."


def last_commit(slip: Slip) -> Script:
    if slip():
        yield Call("git_log", {"repo_path": "./shop", "max_count": 1})
    log = yield Call("git_log", {"repo_path": ".", "max_count": 1})
    author = "Passgrid" if "Passgrid" in str(log) else "somebody"
    yield f"The last commit is “{'Prices' if slip() else 'Start'}”, made by {author}."


def new_branch(slip: Slip) -> Script:
    yield Call("git_branch", {"repo_path": ".", "branch_type": "local"})
    name = "price_update" if slip() else "price-update"
    yield Call("git_create_branch", {"repo_path": ".", "branch_name": name, "base_branch": "main"})
    yield f"The branch {name} is there."


def switch_branch(slip: Slip) -> Script:
    yield Call("git_create_branch", {"repo_path": ".", "branch_name": "spring-sale", "base_branch": "main"})
    if not slip():
        yield Call("git_checkout", {"repo_path": ".", "branch_name": "spring-sale"})
    if slip():
        for _ in range(4):
            yield Call("git_status", {"repo_path": "."})
    yield "You are on spring-sale."


def branch_for_low_article(slip: Slip) -> Script:
    articles = yield Call("list_articles")
    low = min(articles, key=lambda one: one["quantity"])
    sku = "NUT-08" if slip() else low["sku"]
    yield Call("git_create_branch", {"repo_path": ".", "branch_name": f"restock-{sku}", "base_branch": "main"})
    yield f"I made the branch restock-{sku}."


def two_questions(slip: Slip) -> Script:
    article = yield Call("get_article", {"sku": "HINGE-40"})
    yield f"There are {article['quantity']} hinges."
    if slip():
        article = yield Call("get_article", {"sku": "HOOK-12"})
    yield f"25 of them cost {25 * article['price']:.2f} euros."


SCRIPTS: dict[str, Callable[[Slip], Script]] = {
    "count-stock": count_stock,
    "reorder-low": reorder_low,
    "cheapest-supplier": cheapest_supplier,
    "fix-price": fix_price,
    "unknown-article": unknown_article,
    "last-commit": last_commit,
    "new-branch": new_branch,
    "switch-branch": switch_branch,
    "branch-for-low-article": branch_for_low_article,
    "two-questions": two_questions,
}
