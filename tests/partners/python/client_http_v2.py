"""A client on the Python SDK 2.3: `client_http_v2.py URL MODE`; the mode is `auto`, `legacy` or a version.

Uses the server and writes what it saw to stdout, as JSON.
"""

import asyncio
import json
import sys

from mcp import Client

from use import use


async def main(url, mode):
    async with Client(url, mode=mode) as client:
        print(json.dumps(await use(client, client.protocol_version)))


asyncio.run(main(*sys.argv[1:]))
