"""Questions of the servers that talk back, and what came back; both SDKs have these types."""

import json

from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)

NAMES = ["Ada", "Alan", "Grace"]
NUMBER = "partner://number"
STATE = "/1 \"\\\x7f\u00e9\u2028\U0001f511=="
NAME = {"type": "string", "title": "Name"}
SIZE = {"type": "string", "enum": ["small", "large"], "default": "small"}


def form(**fields):
    schema = {"type": "object", "properties": fields, "required": ["name"]}
    params = ElicitRequestFormParams(message="Who is it for?", requested_schema=schema)
    return ElicitRequest(params=params)


def visit():
    url = "https://example.com/sign-in?a=1&b=2"
    return ElicitRequest(params=ElicitRequestURLParams(message="Sign in", url=url))


def sampling(prompt):
    message = SamplingMessage(role="user", content=TextContent(text=prompt))
    params = CreateMessageRequestParams(
        messages=[message], max_tokens=50, system_prompt="You are brief."
    )
    return CreateMessageRequest(params=params)


def ask(state=None, **questions):
    return InputRequiredResult(input_requests=questions, request_state=state)


def answer(ctx, key):
    return (ctx.input_responses or {}).get(key)


def name_of(reply):
    return (reply.content or {}).get("name", "nobody")


def filled_in(reply):
    content = json.dumps(reply.content, sort_keys=True, separators=(",", ":"))
    return f"{reply.action} {content}"


def said(reply):
    content = reply.content
    return (content[0] if isinstance(content, list) else content).text


def interview(ctx):
    """Two questions in one round, and a third in the next, which knows of the first only by the state."""
    state, model = ctx.request_state, answer(ctx, "model")
    if state is None:
        return ask(STATE, form=form(name=NAME), roots=ListRootsRequest())
    if not state.endswith(STATE):
        raise ValueError("the state is not what was given out")
    if model is None:
        name, roots = name_of(answer(ctx, "form")), answer(ctx, "roots").roots
        known = f"{name} with {len(roots)} folders"
        return ask(known + STATE, model=sampling(f"Describe {name}."))
    return f"{state.removesuffix(STATE)}: {said(model)}"


def completed(begun):
    return [name for name in NAMES if name.startswith(begun)]
