"""A partner on the Python SDK 2.3, which speaks the era that it is opened in.

Offers what tests/src/offer.rs lists.
"""

from mcp.server.mcpserver import MCPServer

server = MCPServer("python-v2", log_level="ERROR")


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
