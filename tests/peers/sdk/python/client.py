"""A client on PyPI's `mcp`. argv: `legacy` (without one), `auto` or `modern`, which never sends `server/discover`.

It declares `form+url` or `nothing`: its SDK has no other way.
"""

import asyncio
import json
import os
import pathlib
import sys

from mcp import Client, StdioServerParameters
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import CreateMessageResult, ElicitRequestParams, ElicitResult, ListRootsResult, Request, Result, Root, TextContent

sys.path.append(str(pathlib.Path(__file__).parents[1]))

from answers import answered, give, prepare

TIMEOUT = 600
"""Seconds: longer than anything here takes, unless a step has a `timeout` of its own, in milliseconds."""


def tell(**line) -> None:
    print(json.dumps(line), flush=True)


def plain(model) -> dict | None:
    return model and model.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    tell(asked={"id": context.request_id, "params": plain(params)})
    try:
        answer = await answered(params.message)
    except asyncio.CancelledError:
        tell(withdrawn=context.request_id)
        raise
    return ElicitResult(action=answer["action"], content=answer.get("content"))


async def sample(context: ClientRequestContext, params) -> CreateMessageResult:
    tell(sampled=plain(params))
    return CreateMessageResult(model="parrot", role="assistant", content=TextContent(type="text", text="Hello"))


async def roots(context: ClientRequestContext) -> ListRootsResult:
    return ListRootsResult(roots=[Root(uri="file:///home")])


async def call(client: Client, step: dict) -> None:
    """Calls a tool or another method, and tells how that went."""
    if "answer" in step:
        return give(step["answer"])
    prepare(step.get("answers", []), others_are_open="call" in step)
    of = {"call": step["call"]} if "call" in step else {}

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        tell(**of, progress={"progress": progress, "total": total, "message": message})

    follow = None if step.get("quiet") else progress
    seconds = step["timeout"] / 1000 if "timeout" in step else TIMEOUT
    try:
        if "method" in step:
            result = await client.session.send_request(Request(method=step["method"], params=None), Result)
        else:
            result = await client.call_tool(step["tool"], step.get("arguments", {}), seconds, follow)
        tell(**of, result=plain(result))
    except MCPError as error:
        tell(**of, error=plain(error.error))


async def main() -> None:
    job = json.loads(sys.stdin.readline())
    if not (server := job.get("url")):
        command, *args = job["command"]
        server = StdioServerParameters(command=command, args=args, env=dict(os.environ))
    also = job.get("also", [])
    client = Client(
        server,
        elicitation_callback={"form+url": answer, "nothing": None}[job["declare"]],
        sampling_callback=sample if "sampling" in also else None,
        list_roots_callback=roots if "roots" in also else None,
        mode={"modern": "2026-07-28"}.get(mode := (sys.argv[1:] or ["legacy"])[0], mode),
    )
    async with client:
        tell(opened={"server": plain(client.server_info), "revision": client.protocol_version})
        if job.get("lists", True):
            tell(tools=[tool.name for tool in (await client.list_tools()).tools])
        if "steps" in job:
            for step in job["steps"]:
                await call(client, step)
        else:
            async with asyncio.TaskGroup() as calls:
                while line := await asyncio.to_thread(sys.stdin.readline):
                    calls.create_task(call(client, json.loads(line)))
    tell(closed=True)


asyncio.run(main())
