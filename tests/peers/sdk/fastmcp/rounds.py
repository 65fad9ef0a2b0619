"""A server on PyPI's `fastmcp` whose tools ask by returning: for clients of 2026-07-28."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1]))

from fastmcp import Context, FastMCP

from http_peer import listen
from questions import register

server = FastMCP("fastmcp-rounds", version="1.0.0")
register(server.tool, Context)
if sys.argv[-1] == "http":
    listen(server.http_app())
else:
    server.run(show_banner=False)
