"""The partner of server_v2.py over HTTP: `server_http_v2.py PORT`.

Offers `count` beside what that one does.
"""

import asyncio
import sys

from mcp.server.mcpserver import Context

from over_http import serve
from server_v2 import server


@server.tool()
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


if __name__ == "__main__":
    port = int(sys.argv[1])
    if sys.argv[2:] == ["sse"]:
        serve(server.sse_app(), port, "/sse")
    else:
        serve(server.streamable_http_app(), port, "/mcp")
