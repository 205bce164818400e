"""What the clients do with the bundled server behind a gateway; sessions of both SDKs have these methods."""

import asyncio

from use import use


async def use_all(session, version, prompt_reference, prefix=""):
    """Uses everything there is once, and returns what there was to see."""
    seen = await use(session, version, prefix)
    asked = await session.call_tool(prefix + "ask_name", {})
    prompt = await session.get_prompt(prefix + "greeting", {"name": "Ada"})
    reference = prompt_reference(type="ref/prompt", name=prefix + "greeting")
    completed = await session.complete(reference, {"name": "formal", "value": "t"})
    await give_up(session, prefix)
    after = await session.call_tool(prefix + "echo", {"message": "still here"})
    return seen | {
        "asked": asked.content[0].text,
        "prompt": prompt.messages[0].content.text,
        "completed": completed.completion.values,
        "after": after.content[0].text,
    }


async def give_up(session, prefix):
    """Cancels a long call as soon as it has begun."""
    has_begun = asyncio.Event()

    async def note(step, total, message):
        has_begun.set()

    arguments = {"duration": 600, "steps": 6000}
    name = prefix + "slow_operation"
    call = asyncio.create_task(session.call_tool(name, arguments, progress_callback=note))
    await has_begun.wait()
    call.cancel()
    await asyncio.wait([call])
