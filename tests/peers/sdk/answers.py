"""What a Python client answers: what its steps have prepared, or what it is told while a question is open."""

import asyncio

_prepared: list[dict] = []
_open: list[tuple[str, asyncio.Future]] = []


def _fits(answer: dict, message: str) -> bool:
    return answer.get("message", message) == message


def prepare(answers: list[dict], others_are_open: bool) -> None:
    """Keeps answers to questions to come; those of the step before are forgotten, unless it may be open."""
    if not others_are_open:
        _prepared.clear()
    _prepared.extend(answers)


def give(answer: dict) -> None:
    """Answers an open question, or the next one that the answer fits."""
    for message, answered in _open:
        if _fits(answer, message):
            _open.remove((message, answered))
            return answered.set_result(answer)
    _prepared.append(answer)


async def answered(message: str) -> dict:
    """The answer to a question, as soon as there is one."""
    for answer in _prepared:
        if _fits(answer, message):
            _prepared.remove(answer)
            return answer
    question = message, asyncio.get_running_loop().create_future()
    _open.append(question)
    try:
        return await question[1]
    finally:
        if question in _open:
            _open.remove(question)
