"""Adds the cure to errors of habits from scripts and other notebooks: event loops, awaits, exit() and input()."""

import asyncio
import os


def cure_for(error):
    """Returns a sentence that says what to do about an error; an empty string if its own text is enough."""
    if isinstance(error, SystemExit):
        return "This ended the cell; the session goes on."
    text = str(error) if type(error) in (TypeError, RuntimeError) else ""
    if "'await' expression" in text:
        return "A host function returns its result, not something to await: leave out this `await`."
    if "running event loop" in text or "event loop is already running" in text:
        return "A cell runs in an event loop already: write `await main()`, and make a function around it `async def`."
    if isinstance(error, TypeError) and _raised_by_asyncio(error):
        return (
            "A host function returns its result, not something to await. To make several calls at once: "
            "await asyncio.gather(*(asyncio.to_thread(f, x) for x in xs))"
        )
    return ""


def _raised_by_asyncio(error):
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and os.path.dirname(last.tb_frame.f_code.co_filename) == os.path.dirname(asyncio.__file__)
