"""A server on FastMCP, with its defaults, and with a tool for every kind of type that `ctx.elicit` accepts.

usage: fast.py [stdio | http] [PORT]
"""

import sys
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from fastmcp import Context, FastMCP
from pydantic import BaseModel, Field

MODE = sys.argv[1] if len(sys.argv) > 1 else "stdio"
PORT = int(sys.argv[2]) if len(sys.argv) > 2 else 0

mcp = FastMCP("fast")


class Color(Enum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


@dataclass
class Trip:
    """A form made from a dataclass."""

    city: str
    nights: int = 2
    breakfast: bool = False


class Booking(BaseModel):
    """A form made from a Pydantic model."""

    guests: int = Field(ge=1, le=8)
    name: str = Field(min_length=2)
    color: Color = Color.RED


PRIORITIES = {"low": {"title": "Low priority"}, "high": {"title": "High priority"}}

TYPES: dict[str, Any] = {
    "text": str,
    "whole": int,
    "number": float,
    "yes_no": bool,
    "literal": Literal["tea", "coffee"],
    "enum": Color,
    "choices": ["north", "south"],
    "titled": PRIORITIES,
    "several": [["bug", "docs", "test"]],
    "several_titled": [PRIORITIES],
    "several_enum": list[Color],
    "dataclass": Trip,
    "model": Booking,
}


def add(name: str, kind: Any) -> None:
    async def ask(ctx: Context) -> str:
        result = await ctx.elicit(f"Give {name}", response_type=kind)
        return f"{result.action}: {result.data!r}" if result.action == "accept" else result.action

    mcp.tool(ask, name=name, description=f"Asks for {name}.")


for name, kind in TYPES.items():
    add(name, kind)


@mcp.tool
def plain(words: str) -> str:
    """Repeats it, and asks nothing."""
    return words


if __name__ == "__main__":
    if MODE == "stdio":
        mcp.run(show_banner=False)
    else:
        mcp.run("http", port=PORT, show_banner=False)
