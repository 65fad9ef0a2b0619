"""A server by HTTP."""

import json
import os
import socket

import uvicorn


def listen(app):
    """Listens, and tells where: {url}."""
    port = int(os.environ.get("MIDCALL_PEER_PORT", 0))
    with socket.create_server(("127.0.0.1", port)) as bound:
        print(json.dumps({"url": f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"}), flush=True)
        # A server that stood still must not close connections that are in use.
        uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_keep_alive=600)).run(sockets=[bound])
