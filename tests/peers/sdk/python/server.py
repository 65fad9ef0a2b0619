"""A server on PyPI's `mcp`."""

import asyncio
import json

from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, EmailStr, Field, create_model
from typing import Literal

server = MCPServer("python", version="1.0.0")


class Confirm(BaseModel):
    sure: bool = Field(title="Delete them")


class Book(BaseModel):
    name: str = Field(title="Name", min_length=1)
    email: EmailStr | None = None
    guests: int = Field(ge=1, le=12)
    table: Literal["window", "garden", "bar"] | None = None


def texts(*names: str) -> type[BaseModel]:
    return create_model("Texts", **{name: (str, Field(title=name.title(), min_length=1)) for name in names})


async def ask(ctx: Context, message: str, schema: type[BaseModel]) -> dict:
    """What a question brought, the error included."""
    try:
        brought = await ctx.elicit(message, schema=schema)
    except MCPError as error:
        return {"error": {"code": error.error.code, "message": error.error.message}}
    except ValueError as error:
        return {"error": {"message": str(error)}}
    if brought.action == "accept":
        return {"action": "accept", "content": brought.data.model_dump(exclude_unset=True)}
    return {"action": brought.action}


@server.tool()
async def confirm(ctx: Context) -> str:
    return json.dumps([await ask(ctx, "Delete 3 files?", Confirm)])


@server.tool()
async def form(ctx: Context) -> str:
    return json.dumps([await ask(ctx, "Which table?", Book)])


@server.tool()
async def large(ctx: Context) -> str:
    return json.dumps([await ask(ctx, "Thirty things", texts(*(f"field{n}" for n in range(30))))])


@server.tool()
async def wizard(ctx: Context) -> str:
    return json.dumps([await ask(ctx, f"Step {step}", texts("value")) for step in range(1, 6)])


@server.tool()
async def both(ctx: Context) -> str:
    asked = ask(ctx, "Which town?", texts("town")), ask(ctx, "Which day?", texts("day"))
    return json.dumps(await asyncio.gather(*asked))


@server.tool()
async def insist(ctx: Context) -> str:
    brought: list[dict] = []
    while len(brought) < 3 and (not brought or brought[-1].get("action") != "accept"):
        brought.append(await ask(ctx, "Which table?", Book))
    return json.dumps(brought)


@server.tool()
async def impatient(ms: int, ctx: Context) -> str:
    try:
        async with asyncio.timeout(ms / 1000):
            return json.dumps([await ask(ctx, "Delete 3 files?", Confirm)])
    except TimeoutError:
        return json.dumps([{"error": {"message": "timed out"}}])


@server.tool()
async def link(ctx: Context) -> str:
    brought = await ctx.elicit_url("Sign in", "https://example.com/sign-in", "link-1")
    if brought.action == "accept":
        await ctx.session.send_elicit_complete("link-1")
    return json.dumps([{"action": brought.action}])


@server.tool()
async def steps(steps: int, ctx: Context) -> str:
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps)
        await asyncio.sleep(0.3)  # TypeScript's client drops what comes together with the result
    return "[]"


if __name__ == "__main__":
    server.run("stdio")
