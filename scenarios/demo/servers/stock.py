"""A stock server for the demo: a few articles in memory, read and changed over MCP. Each process starts afresh."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("stock")

ARTICLES: dict[str, dict[str, Any]] = {
    "BOLT-08": {"name": "M8 bolt", "quantity": 420, "reorder_level": 200, "price": 0.18},
    "NUT-08": {"name": "M8 nut", "quantity": 40, "reorder_level": 100, "price": 0.07},
    "WASHER-08": {"name": "M8 washer", "quantity": 900, "reorder_level": 300, "price": 0.03},
    "HINGE-40": {"name": "40 mm hinge", "quantity": 64, "reorder_level": 30, "price": 3.9},
    "HOOK-12": {"name": "12 mm hook", "quantity": 12, "reorder_level": 10, "price": 1.25},
}
SUPPLIERS = {"WASHER-08": {"Norden": 0.011, "Alder & Sons": 0.014, "Quickfix": 0.019}}


def _article(sku: str) -> dict[str, Any]:
    if sku not in ARTICLES:
        raise ToolError(f"[NOT_FOUND] no article {sku}. Suggestion: find it with search")
    return ARTICLES[sku]


@server.tool()
def search(text: str) -> list[dict[str, Any]]:
    """Articles whose name contains the text."""
    return [{"sku": sku, "name": one["name"]} for sku, one in ARTICLES.items() if text.lower() in one["name"].lower()]


@server.tool()
def get_article(sku: str) -> dict[str, Any]:
    """Name, quantity, reorder level and price of one article."""
    return {"sku": sku, **_article(sku)}


@server.tool()
def list_articles() -> list[dict[str, Any]]:
    """Every article with its quantity and reorder level."""
    return [{"sku": sku, **one} for sku, one in ARTICLES.items()]


@server.tool()
def list_suppliers(sku: str) -> dict[str, float]:
    """Suppliers of an article with their prices."""
    _article(sku)
    return SUPPLIERS.get(sku, {})


@server.tool()
def set_price(sku: str, price: float) -> dict[str, Any]:
    """Change the price of an article."""
    if price <= 0:
        raise ToolError("[INVALID] a price must be positive. Suggestion: give euros, such as 3.90")
    _article(sku)["price"] = price
    return {"sku": sku, "price": price}


@server.tool()
def place_order(sku: str, quantity: int) -> dict[str, Any]:
    """Order more of an article; the delivery is booked at once."""
    if quantity <= 0:
        raise ToolError("[INVALID] a quantity must be positive. Suggestion: order at least 1")
    _article(sku)["quantity"] += quantity
    return {"sku": sku, "ordered": quantity, "quantity": _article(sku)["quantity"]}


if __name__ == "__main__":
    server.run("stdio")
