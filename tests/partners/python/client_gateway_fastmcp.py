"""A client on fastmcp 4.1: `client_gateway_fastmcp.py TARGET MODE [PREFIX]`.

The target is a URL, or a command and its arguments as a JSON array. The mode is `auto`, `legacy` or a version. Uses
the bundled server through a gateway, which puts the prefix before its names, and writes what it saw to stdout as JSON.
"""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp_types import ElicitResult, PromptReference


async def fill_in(message, response_type, params, context):
    return ElicitResult(action="accept", content={"name": "Ada"})


def server(target):
    if not target.startswith("["):
        return target
    command, *args = json.loads(target)
    return StdioTransport(command=command, args=args, env=dict(os.environ), keep_alive=False)


async def give_up(client, prefix):
    """Cancels a long call as soon as it has begun."""
    has_begun = asyncio.Event()

    async def note(step, total, message):
        has_begun.set()

    arguments = {"duration": 600, "steps": 6000}
    call = asyncio.create_task(client.call_tool(prefix + "slow_operation", arguments, progress_handler=note))
    await has_begun.wait()
    call.cancel()
    await asyncio.wait([call])


async def main(target, mode, prefix=""):
    progress, logs = [], []

    async def note(step, total, message):
        progress.append(step)

    async def log(message):
        logs.append(message.data)

    async with Client(server(target), mode=mode, elicitation_handler=fill_in, log_handler=log) as client:
        tools = await client.list_tools()
        echo = await client.call_tool(prefix + "echo", {"message": "hello"})
        await client.call_tool(prefix + "slow_operation", {"duration": 0.3, "steps": 3}, progress_handler=note)
        resources = await client.list_resources()
        read = await client.read_resource(resources[0].uri)
        prompts = await client.list_prompts()
        asked = await client.call_tool(prefix + "ask_name", {})
        prompt = await client.get_prompt(prefix + "greeting", {"name": "Ada"})
        reference = PromptReference(type="ref/prompt", name=prefix + "greeting")
        completed = await client.complete(reference, {"name": "formal", "value": "t"})
        await give_up(client, prefix)
        after = await client.call_tool(prefix + "echo", {"message": "still here"})
        version = client.protocol_version if hasattr(client, "protocol_version") else client.session.protocol_version
        print(
            json.dumps(
                {
                    "version": version,
                    "tools": [tool.name for tool in tools],
                    "echo": echo.content[0].text,
                    "progress": progress,
                    "read": len(read),
                    "prompts": [it.name for it in prompts],
                    "asked": asked.content[0].text,
                    "prompt": prompt.messages[0].content.text,
                    "completed": completed.values,
                    "after": after.content[0].text,
                }
            )
        )


asyncio.run(main(*sys.argv[1:]))
