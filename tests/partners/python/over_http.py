"""Serves an ASGI application on a port of loopback, and tells what happens.

The first line on stdout says where it listens. Then there is a line for each request: its method and
the status of the answer.
"""

import socket

import uvicorn


class Telling:
    """An application that says how each request was answered."""

    def __init__(self, inner):
        self.inner = inner

    async def __call__(self, scope, receive, send):
        async def tell(message):
            if message["type"] == "http.response.start":
                print(scope["method"], message["status"], flush=True)
            await send(message)

        await self.inner(scope, receive, tell if scope["type"] == "http" else send)


def listen(port):
    """Opens a port of loopback; port 0 picks one that is free."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    # From here on nobody is refused, even if nobody is served yet.
    listener.listen()
    return listener


def serve(app, port, path):
    """Serves until the process is ended; port 0 picks one that is free."""
    serve_on(listen(port), app, path)


def serve_on(listener, app, path):
    """Serves on a port that is open already, for applications that have to know it."""
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}{path}", flush=True)
    config = uvicorn.Config(Telling(app), log_level="error", access_log=False)
    uvicorn.Server(config).run(sockets=[listener])
