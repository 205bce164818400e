"""A client on the Python SDK 1.30: `client_gateway_v1.py TARGET [PREFIX]`; see `client_gateway_v2.py`."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult, PromptReference

from gateway import use_all


async def fill_in(context, params):
    return ElicitResult(action="accept", content={"name": "Ada"})


def connect(target):
    if target.endswith("/sse"):
        return sse_client(target)
    if not target.startswith("["):
        return streamable_http_client(target)
    command, *args = json.loads(target)
    return stdio_client(StdioServerParameters(command=command, args=args, env=dict(os.environ)))


async def main(target, prefix=""):
    # Over HTTP there is a third part, which tells the session's id.
    async with connect(target) as (read, write, *_):
        async with ClientSession(read, write, elicitation_callback=fill_in) as session:
            opened = await session.initialize()
            print(json.dumps(await use_all(session, opened.protocolVersion, PromptReference, prefix)))


asyncio.run(main(*sys.argv[1:]))
