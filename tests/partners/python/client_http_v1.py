"""A client on the Python SDK 1.30: `client_http_v1.py URL [sse]`.

Uses the server and writes what it saw to stdout, as JSON.
"""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from use import use


async def main(url, transport="http"):
    connect = sse_client if transport == "sse" else streamable_http_client
    # The newer one has a third part, which tells the session's id.
    async with connect(url) as (read, write, *_):
        async with ClientSession(read, write) as session:
            opened = await session.initialize()
            print(json.dumps(await use(session, opened.protocolVersion)))


asyncio.run(main(*sys.argv[1:]))
