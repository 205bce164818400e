"""A server on fastmcp 4 that is its own issuer: `oauth_fastmcp.py PORT`.

Clients register themselves; every authorization request is approved at once. The issuer ends in a slash.
"""

import sys

from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions

from over_http import listen, serve_on


def main():
    listener = listen(int(sys.argv[1]))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    auth = InMemoryOAuthProvider(
        base_url=origin,
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["tools"]),
        revocation_options=RevocationOptions(enabled=True),
        required_scopes=["tools"],
    )
    server = FastMCP("fastmcp with its own issuer", auth=auth)

    @server.tool
    def echo(message: str) -> str:
        """Returns its message."""
        return message

    serve_on(listener, server.http_app(), "/mcp")


if __name__ == "__main__":
    main()
