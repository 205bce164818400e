"""A partner on the Python SDK 2.3 that talks back.

Offers what tests/src/talk.rs lists.
"""

import asyncio
import warnings

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated
from mcp_types import Completion, InputRequiredResult, ListRootsRequest

import rounds

# Logging is deprecated, and clients have to know it.
warnings.simplefilter("ignore")


class Changing(InMemorySubscriptionBus):
    """The number changes as soon as somebody begins to watch it."""

    def subscribe(self, listener):
        unsubscribe = super().subscribe(listener)
        listener(ResourceUpdated(uri=rounds.NUMBER))
        return unsubscribe


server = MCPServer("python-v2-talker", log_level="ERROR", subscriptions=Changing())
touched = []


@server.tool()
def ask_form(ctx: Context) -> str | InputRequiredResult:
    """Talks back."""
    reply = rounds.answer(ctx, "form")
    if reply is None:
        return rounds.ask(form=rounds.form(name=rounds.NAME, size=rounds.SIZE))
    return rounds.filled_in(reply)


@server.tool()
def ask_url(ctx: Context) -> str | InputRequiredResult:
    """Talks back."""
    reply = rounds.answer(ctx, "visit")
    return rounds.ask(visit=rounds.visit()) if reply is None else reply.action


@server.tool()
def ask_model(ctx: Context, prompt: str) -> str | InputRequiredResult:
    """Talks back."""
    reply = rounds.answer(ctx, "model")
    return rounds.ask(model=rounds.sampling(prompt)) if reply is None else rounds.said(reply)


@server.tool()
def ask_roots(ctx: Context) -> str | InputRequiredResult:
    """Talks back."""
    reply = rounds.answer(ctx, "roots")
    if reply is None:
        return rounds.ask(roots=ListRootsRequest())
    return "\n".join(str(root.uri) for root in reply.roots)


@server.tool()
def interview(ctx: Context) -> str | InputRequiredResult:
    """Talks back."""
    return rounds.interview(ctx)


@server.tool()
async def log(ctx: Context) -> str:
    """Talks back."""
    await ctx.log("debug", "quiet words", logger_name="partner")
    await ctx.log("warning", "loud words", logger_name="partner")
    return "logged"


@server.tool()
async def count(ctx: Context, steps: int, pause: int) -> str:
    """Talks back."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"at {step}")
        await asyncio.sleep(pause / 1000)
    return f"counted to {steps}"


@server.tool()
async def touch(ctx: Context) -> str:
    """Talks back."""
    touched.append(1)
    await ctx.notify_resource_updated(rounds.NUMBER)
    return "touched"


@server.tool()
async def grow(ctx: Context, name: str) -> str:
    """Talks back."""
    server.add_tool(lambda: "grown", name=name, description="Talks back.")
    await ctx.notify_tools_changed()
    return "grown"


@server.resource(rounds.NUMBER, name="number")
def number() -> str:
    return str(len(touched))


@server.resource("partner://notes/{name}", name="notes")
def notes(name: str) -> str:
    return f"a note for {name}"


@server.resource("partner://locked/{name}", name="locked")
def locked(ctx: Context, name: str) -> str | InputRequiredResult:
    reply = rounds.answer(ctx, "form")
    if reply is None:
        return rounds.ask(form=rounds.form(name=rounds.NAME))
    return f"{name}, opened by {rounds.name_of(reply)}"


@server.prompt()
def greet(name: str) -> str:
    return f"Please greet {name}."


@server.prompt()
def letter(ctx: Context) -> str | InputRequiredResult:
    reply = rounds.answer(ctx, "form")
    if reply is None:
        return rounds.ask(form=rounds.form(name=rounds.NAME))
    return f"Please write to {rounds.name_of(reply)}."


@server.completion()
async def complete(ref, argument, context):
    return Completion(values=rounds.completed(argument.value))


if __name__ == "__main__":
    server.run("stdio")
