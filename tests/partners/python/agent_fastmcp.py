"""The agent of `crates/switchboard/examples/agent.rs` with fastmcp, for the comparison in `docs/library.md`.

`API_KEY=... agent_fastmcp.py FILE URL MODEL TASK`
"""

import asyncio
import json
import os
import sys

import httpx2
from fastmcp import Client
from fastmcp.exceptions import MCPError, ToolError


def definition(tool):
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


async def call(client, wanted):
    try:
        arguments = json.loads(wanted["function"]["arguments"])
        result = await client.call_tool(wanted["function"]["name"], arguments)
        text = "\n".join(block.text for block in result.content if block.type == "text")
    except (MCPError, ToolError) as error:
        # The model reads why, and may try otherwise.
        text = str(error)
    return {"role": "tool", "tool_call_id": wanted["id"], "content": text}


async def main(file, url, model, task):
    with open(file) as config:
        servers = json.load(config)
    headers = {"Authorization": f"Bearer {os.environ['API_KEY']}"}
    async with Client(servers) as client, httpx2.AsyncClient(headers=headers) as http:
        tools = [definition(tool) for tool in await client.list_tools()]
        messages = [{"role": "user", "content": task}]
        while True:
            body = {"model": model, "messages": messages, "tools": tools}
            answer = await http.post(f"{url}/chat/completions", json=body)
            message = answer.raise_for_status().json()["choices"][0]["message"]
            if not message.get("tool_calls"):
                print(message["content"])
                return
            messages.append(message)
            messages += [await call(client, wanted) for wanted in message["tool_calls"]]


asyncio.run(main(*sys.argv[1:]))
