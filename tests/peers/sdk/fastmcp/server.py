"""A server on PyPI's `fastmcp`."""

import asyncio
import functools
import json
import pathlib
import sys
from collections import Counter
from dataclasses import asdict, dataclass, make_dataclass
from typing import Literal

from fastmcp import Context, FastMCP
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_REQUEST,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    SamplingMessage,
    TextContent,
    ToolAnnotations,
)

sys.path.append(str(pathlib.Path(__file__).parents[1]))

import gates
from http_peer import listen

server = FastMCP("fastmcp", version="1.0.0")

ran: Counter[str] = Counter()
"""How often each tool ran: a call that is made again shows here."""


def tool(**hints: bool):
    """A tool of the server, which counts how often it runs."""

    def add(run):
        @functools.wraps(run)
        async def counted(*args, **kwargs):
            ran[run.__name__] += 1
            return await run(*args, **kwargs)

        return server.tool(annotations=ToolAnnotations(**hints) if hints else None)(counted)

    return add


@dataclass
class Confirm:
    sure: bool


@dataclass
class Book:
    name: str
    guests: int
    table: Literal["window", "garden", "bar"] = "bar"


@dataclass
class Closer:
    closer: bool


@dataclass
class Password:
    password: str


@dataclass
class Note:
    note: str = ""


def texts(*names: str) -> type:
    return make_dataclass("Texts", [(name, str) for name in names])


def plain(model) -> dict:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def ask(ctx: Context, message: str, kind: type) -> dict:
    """What a question brought, the error included."""
    try:
        brought = await ctx.elicit(message, response_type=kind)
    except MCPError as error:
        if error.error.code == INVALID_REQUEST:  # there is no way to ask on this connection
            raise
        return {"error": {"code": error.error.code, "message": error.error.message}}
    except ValueError as error:
        return {"error": {"message": str(error)}}
    if brought.action == "accept":
        return {"action": "accept", "content": asdict(brought.data)}
    return {"action": brought.action}


@tool()
async def confirm(ctx: Context) -> str:
    return json.dumps([await ask(ctx, "Delete 3 files?", Confirm)])


@tool()
async def form(ctx: Context) -> str:
    return json.dumps([await ask(ctx, "Which table?", Book)])


@tool()
async def large(ctx: Context) -> str:
    return json.dumps([await ask(ctx, "Thirty things", texts(*(f"field{n}" for n in range(30))))])


@tool()
async def wizard(ctx: Context, steps: int = 5) -> str:
    brought: list[dict] = []
    while len(brought) < steps and (not brought or brought[-1].get("action") == "accept"):
        brought.append(await ask(ctx, f"Step {len(brought) + 1}", texts("value")))
    return json.dumps(brought)


@tool()
async def both(ctx: Context) -> str:
    asked = ask(ctx, "Which town?", texts("town")), ask(ctx, "Which day?", texts("day"))
    return json.dumps(await asyncio.gather(*asked))


@tool()
async def insist(ctx: Context) -> str:
    brought: list[dict] = []
    while len(brought) < 3 and (not brought or brought[-1].get("action") != "accept"):
        brought.append(await ask(ctx, "Which table?", Book))
    return json.dumps(brought)


@tool()
async def impatient(name: str, ctx: Context) -> str:
    brought = await gates.unless(name, ask(ctx, "Delete 3 files?", Confirm))
    gates.opens(f"{name}-over")
    return json.dumps([brought or {"error": {"message": "enough"}}])


@tool()
async def link(ctx: Context) -> str:
    brought = await ctx.session.elicit_url("Sign in", "https://example.com/sign-in", "link-1")
    if brought.action == "accept":
        await ctx.session.send_elicit_complete("link-1")
    return json.dumps([{"action": brought.action}])


@tool()
async def toppings(ctx: Context) -> str:
    """Several of many, in the way of this SDK, which not every client takes."""
    brought = await ctx.elicit("Which toppings?", response_type=[["ham", "olives", "corn"]])
    return json.dumps([{"action": brought.action, "content": getattr(brought, "data", None)}])


@tool()
async def steps(steps: int, name: str, ctx: Context) -> str:
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps)
    await gates.gate(name)  # TypeScript's client drops progress that comes together with the result
    return "[]"


@tool(read_only_hint=True)
async def look(ctx: Context) -> str:
    return json.dumps([await ask(ctx, "Look closer?", Closer)])


@tool(destructive_hint=True)
async def erase(ctx: Context, path: str = "", apiKey: str = "") -> str:
    return json.dumps([] if path else [await ask(ctx, "Which file?", texts("path"))])


@tool()
async def secret(ctx: Context) -> str:
    return json.dumps([await ask(ctx, "Who are you?", Password)])


@tool()
async def empty(ctx: Context) -> str:
    return json.dumps([await ask(ctx, "Anything to add?", Note)])


@tool()
async def finish(id: str, ctx: Context) -> str:
    await ctx.session.send_elicit_complete(id)
    return "[]"


@tool()
async def numbered(number: int, ctx: Context) -> str:
    return json.dumps([await ask(ctx, f"Number {number}", texts("value"))])


@tool()
async def brief(name: str, ctx: Context) -> str:
    schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
    params = ElicitRequestFormParams(message="Delete 3 files?", requested_schema=schema, _meta={"dev.midcall/timeoutMs": 100})
    brought = await ctx.session.send_request(ElicitRequest(params=params), ElicitResult)
    gates.opens(f"{name}-over")
    return json.dumps([plain(brought)])


@tool()
async def after(name: str) -> str:
    await gates.gate(name)
    return "[]"


@tool()
async def enough(name: str) -> str:
    gates.opens(name)
    return "[]"


@tool()
async def sample(ctx: Context) -> str:
    hello = SamplingMessage(role="user", content=TextContent(type="text", text="Say hello"))
    return json.dumps([plain(await ctx.session.create_message([hello], max_tokens=100))])


@tool()
async def roots(ctx: Context) -> str:
    return json.dumps([plain(await ctx.session.list_roots())])


@server.tool(name="ran", annotations=ToolAnnotations(read_only_hint=True))
async def tell_ran() -> str:
    return json.dumps(ran)


if __name__ == "__main__":
    if sys.argv[-1] == "http":
        listen(server.http_app())
    else:
        server.run(show_banner=False)
