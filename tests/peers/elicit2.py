"""A server on the official Python SDK 2.x, which asks in the way of the negotiated revision.

usage: elicit2.py [stdio | stream | json | stateless | sse] [PORT]
"""

import sys
from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel, Field

MODE = sys.argv[1] if len(sys.argv) > 1 else "stdio"
PORT = int(sys.argv[2]) if len(sys.argv) > 2 else 0

mcp = MCPServer("python2")


class Booking(BaseModel):
    """What the tool needs to know."""

    guests: int = Field(ge=1, le=8)
    name: str = Field(min_length=2)


class Sure(BaseModel):
    """Whether it is intended."""

    sure: bool


def ask(day: str) -> Elicit[Booking]:
    return Elicit(f"Your table on {day}", Booking)


def confirm(booking: Annotated[Booking, Resolve(ask)]) -> Elicit[Sure]:
    return Elicit(f"A table for {booking.guests}?", Sure)


@mcp.tool()
def book(day: str, booking: Annotated[Booking, Resolve(ask)], sure: Annotated[Sure, Resolve(confirm)]) -> str:
    """Books a table."""
    return f"booked on {day}: {booking.model_dump_json()}, sure: {sure.sure}"


@mcp.tool()
def plain(words: str) -> str:
    """Repeats it, and asks nothing."""
    return words


@mcp.tool()
async def ask_back(day: str, ctx: Context) -> str:
    """Books a table, and asks with a request, which no modern revision has."""
    asked = await ctx.elicit(message=f"Your table on {day}", schema=Booking)
    return f"{asked.action}: {getattr(asked, 'data', None)!r}"


if __name__ == "__main__":
    if MODE == "stdio":
        mcp.run()
    elif MODE == "sse":
        mcp.run("sse", port=PORT)
    else:
        mcp.run("streamable-http", port=PORT, json_response=MODE == "json", stateless_http=MODE == "stateless")
