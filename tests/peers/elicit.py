"""A server on the official Python SDK whose tool elicits a Pydantic model.

usage: elicit.py [stdio | sse | stream | json] [PORT]
"""

import sys

from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel, Field

MODE = sys.argv[1] if len(sys.argv) > 1 else "stdio"
PORT = int(sys.argv[2]) if len(sys.argv) > 2 else 0

mcp = FastMCP("python", host="127.0.0.1", port=PORT, json_response=MODE == "json")


class Booking(BaseModel):
    """What the tool needs to know."""

    guests: int = Field(description="How many guests", ge=1, le=8)
    name: str = Field(min_length=2)
    table: str = Field(default="inside", json_schema_extra={"enum": ["inside", "outside"]})
    vegetarian: bool = False
    note: str | None = None


@mcp.tool()
async def book(day: str, ctx: Context) -> str:
    """Books a table."""
    result = await ctx.elicit(message=f"Your table on {day}", schema=Booking)
    if result.action != "accept":
        return f"not booked: {result.action}"
    return f"booked: {result.data.model_dump_json()}"


@mcp.tool()
def echo(words: str) -> str:
    """Repeats it."""
    return words


if __name__ == "__main__":
    mcp.run({"stdio": "stdio", "sse": "sse"}.get(MODE, "streamable-http"))
