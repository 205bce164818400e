"""What the clients do with the bundled test server; sessions of both SDKs have these methods."""


async def use(session, version, prefix=""):
    """Lists, calls and watches, and returns what there was to see. The prefix is before the names of tools."""
    tools = await session.list_tools()
    echo = await session.call_tool(prefix + "echo", {"message": "hello"})
    progress = []

    async def note(step, total, message):
        progress.append(step)

    arguments = {"duration": 0, "steps": 3}
    await session.call_tool(prefix + "slow_operation", arguments, progress_callback=note)
    resources = await session.list_resources()
    read = await session.read_resource(resources.resources[0].uri)
    prompts = await session.list_prompts()
    return {
        "version": version,
        "tools": [tool.name for tool in tools.tools],
        "echo": echo.content[0].text,
        "progress": progress,
        "read": len(read.contents),
        "prompts": [prompt.name for prompt in prompts.prompts],
    }
