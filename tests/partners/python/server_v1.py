"""A partner on the Python SDK 1.30, which speaks the legacy era alone.

Offers what tests/src/offer.rs lists.
"""

from mcp.server.fastmcp import FastMCP

server = FastMCP("python-v1", log_level="ERROR")


@server.tool()
def echo(message: str) -> str:
    """Returns its message."""
    return message


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two integers."""
    return a + b


@server.resource("partner://greeting", name="greeting", mime_type="text/plain")
def greeting() -> str:
    """A text to read."""
    return "Hello from a partner."


@server.prompt()
def greet(name: str) -> str:
    """Asks for a greeting."""
    return f"Please greet {name}."


if __name__ == "__main__":
    server.run("stdio")
