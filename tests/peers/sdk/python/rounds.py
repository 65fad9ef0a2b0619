"""A server on PyPI's `mcp` whose tools ask by returning: for clients of 2026-07-28."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1]))

from mcp.server.mcpserver import Context, MCPServer

from http_peer import listen
from questions import register

server = MCPServer("python-rounds", version="1.0.0")
register(server.tool, Context)
if sys.argv[-1] == "http":
    listen(server.streamable_http_app())
else:
    server.run("stdio")
