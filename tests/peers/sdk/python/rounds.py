"""A server on PyPI's `mcp` whose tools ask by returning: for clients of 2026-07-28."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1]))

from mcp.server.mcpserver import Context, MCPServer

from questions import register

server = MCPServer("python-rounds", version="1.0.0")
register(server.tool, Context)
server.run("stdio")
