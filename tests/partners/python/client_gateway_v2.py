"""A client on the Python SDK 2.3: `client_gateway_v2.py TARGET MODE [PREFIX]`.

The target is a URL, or a command and its arguments as a JSON array. The mode is `auto`, `legacy` or a version. Uses
the bundled server through a gateway, which puts the prefix before its names, and writes what it saw to stdout as JSON.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult, PromptReference

from gateway import use_all


async def fill_in(context, params):
    return ElicitResult(action="accept", content={"name": "Ada"})


def server(target):
    if not target.startswith("["):
        return target
    command, *args = json.loads(target)
    return StdioServerParameters(command=command, args=args, env=dict(os.environ))


async def main(target, mode, prefix=""):
    async with Client(server(target), mode=mode, elicitation_callback=fill_in) as client:
        print(json.dumps(await use_all(client, client.protocol_version, PromptReference, prefix)))


asyncio.run(main(*sys.argv[1:]))
