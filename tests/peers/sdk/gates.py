"""Where a Python server's calls wait for each other, by name.

A gate is a file: a gateway may start the server twice, to speak both eras with it, and then the calls that wait for
each other are in two processes. They have their folder for the session in common, and no other story has it.
"""

import asyncio
import os
import pathlib


def _file(name: str) -> pathlib.Path:
    return pathlib.Path(os.environ["XDG_RUNTIME_DIR"], f"gate-{name}")


async def gate(name: str) -> None:
    """Waits until the gate of that name is open."""
    while not _file(name).exists():
        await asyncio.sleep(0.02)


def opens(name: str) -> None:
    _file(name).touch()


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
