"""What a Python server asks when its tools ask by returning: the same for each SDK, whose `Context` has the answers."""

import json

from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)

import gates


def form(message: str, properties: dict, required: list[str] | None = None) -> ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": required or list(properties)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def text(title: str) -> dict:
    return {"type": "string", "title": title, "minLength": 1}


BOOK = form(
    "Which table?",
    {
        "name": text("Name"),
        "email": {"type": "string", "format": "email"},
        "guests": {"type": "integer", "minimum": 1, "maximum": 12},
        "table": {"type": "string", "enum": ["window", "garden", "bar"]},
    },
    ["name", "guests"],
)
CONFIRM = form("Delete 3 files?", {"sure": {"type": "boolean", "title": "Delete them"}})
SIGN_IN = ElicitRequest(params=ElicitRequestURLParams(message="Sign in", url="https://example.com/sign-in"))
HELLO = SamplingMessage(role="user", content=TextContent(type="text", text="Say hello"))
SAMPLE = CreateMessageRequest(params=CreateMessageRequestParams(messages=[HELLO], max_tokens=100))


async def ask(ctx, rounds: list[dict], meta: dict | None = None) -> str | InputRequiredResult:
    """The next round of questions, or what all of them brought; a round without questions is waited through."""
    state = json.loads(ctx.request_state or '{"round": 0, "brought": []}')
    for key in rounds[state["round"] - 1] if state["round"] else {}:
        brought = (ctx.input_responses or {}).get(key)
        state["brought"].append(brought and brought.model_dump(mode="json", by_alias=True, exclude_none=True))
    state["round"] += 1
    if state["round"] > len(rounds):
        return json.dumps(state["brought"])
    questions = rounds[state["round"] - 1]
    return InputRequiredResult(input_requests=questions or None, request_state=json.dumps(state), _meta=meta)


def register(tool, context: type) -> None:
    """Registers the tools by the SDK's own decorator. `context` is its class, found by annotation."""

    async def confirm(ctx: context) -> str | InputRequiredResult:
        return await ask(ctx, [{"confirm": CONFIRM}])

    async def form_(ctx: context) -> str | InputRequiredResult:
        return await ask(ctx, [{"book": BOOK}])

    async def wizard(ctx: context, steps: int = 5) -> str | InputRequiredResult:
        return await ask(ctx, [{"step": form(f"Step {n}", {"value": text(f"Value {n}")})} for n in range(1, steps + 1)])

    async def both(ctx: context) -> str | InputRequiredResult:
        return await ask(ctx, [{"town": form("Which town?", {"town": text("Town")}), "day": form("Which day?", {"day": text("Day")})}])

    async def numbered(ctx: context, number: int) -> str | InputRequiredResult:
        return await ask(ctx, [{"number": form(f"Number {number}", {"value": text("Value")})}])

    async def brief(ctx: context, name: str) -> str | InputRequiredResult:
        return await ask(ctx, [{"confirm": CONFIRM}], {"dev.midcall/timeoutMs": 100})

    async def link(ctx: context) -> str | InputRequiredResult:
        return await ask(ctx, [{"link": SIGN_IN}])

    async def sample(ctx: context) -> str | InputRequiredResult:
        return await ask(ctx, [{"sample": SAMPLE}])

    async def roots(ctx: context) -> str | InputRequiredResult:
        return await ask(ctx, [{"roots": ListRootsRequest()}])

    async def wait(ctx: context, rounds: int = 2) -> str | InputRequiredResult:
        return await ask(ctx, [{}] * rounds)

    async def steps(ctx: context, steps: int, name: str) -> str:
        for step in range(1, steps + 1):
            await ctx.report_progress(step, steps)
        await gates.gate(name)  # TypeScript's client drops progress that comes together with the result
        return "[]"

    async def enough(name: str) -> str:
        gates.opens(name)
        return "[]"

    for function in [confirm, wizard, both, numbered, brief, link, sample, roots, wait, steps, enough]:
        tool()(function)
    tool(name="form")(form_)
