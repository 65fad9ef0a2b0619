"""Where a Python server's calls wait for each other, by name."""

import asyncio
from collections import defaultdict

_gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)


async def gate(name: str) -> None:
    """Waits until the gate of that name is open."""
    await _gates[name].wait()


def opens(name: str) -> None:
    _gates[name].set()


async def unless(name: str, work):
    """What comes of some work, unless the gate opens before: then it is cancelled, and None comes of it."""
    working, waiting = asyncio.ensure_future(work), asyncio.ensure_future(gate(name))
    await asyncio.wait([working, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if working.done():
        return await working
    working.cancel()
    await asyncio.wait([working])
    return None
