"""A partner on fastmcp 4, over HTTP: `server_http_fastmcp.py PORT`.

Offers what tests/src/offer.rs lists, `count` included, a page of two items at a time.
"""

import asyncio
import sys

from fastmcp import Context, FastMCP

from over_http import serve

server = FastMCP("fastmcp", list_page_size=2)


@server.tool
def echo(message: str) -> str:
    """Returns its message."""
    return message


@server.tool
def add(a: int, b: int) -> int:
    """Adds two integers."""
    return a + b


@server.tool
async def count(ctx: Context, steps: int, hang: bool = False) -> str:
    """Reports each step, and answers or does not."""
    print("counting", flush=True)
    for step in range(1, steps + 1):
        await ctx.report_progress(step)
    if hang:
        try:
            await asyncio.Event().wait()
        finally:
            print("cancelled", flush=True)
    return f"counted to {steps}"


@server.resource("partner://greeting", name="greeting", mime_type="text/plain")
def greeting() -> str:
    """A text to read."""
    return "Hello from a partner."


@server.prompt
def greet(name: str) -> str:
    """Asks for a greeting."""
    return f"Please greet {name}."


if __name__ == "__main__":
    serve(server.http_app(), int(sys.argv[1]), "/mcp")
