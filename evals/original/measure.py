"""Measures CaveAgent with a scripted model and prints the findings as one line of JSON.

Each finding is {"value": ...}, or {"error": ...} if this version of CaveAgent does not have what it needs.
"""

import asyncio
import json
import statistics
import sys
import time

import cave_agent
from cave_agent import CaveAgent, Model, ModelResponse

try:
    from cave_agent.models.base import StreamDelta
except ImportError:
    StreamDelta = None


class Stream:
    """One scripted answer as a stream."""

    def __init__(self, text):
        self.usage = cave_agent.TokenUsage()
        self.finish_reason = None
        self.thinking = ""
        self.refusal = ""
        self._pieces = [text]

    def __aiter__(self):
        return self

    async def __anext__(self):
        if not self._pieces:
            self.finish_reason = "stop"
            raise StopAsyncIteration
        piece = self._pieces.pop()
        return StreamDelta(content=piece) if StreamDelta else piece

    async def aclose(self):
        pass


class Scripted(Model):
    """Gives the answers in order, and keeps the requests."""

    def __init__(self, answers):
        self.answers = list(answers)
        self.requests = []

    async def call(self, messages):
        self.requests.append(messages)
        return ModelResponse(content=self.answers.pop(0))

    async def _complete(self, messages):
        return await self.call(messages)

    def stream(self, messages):
        self.requests.append(messages)
        return Stream(self.answers.pop(0))


def cell(code):
    return f"```python\n{code}\n```"


def make_agent(model, **options):
    try:
        return CaveAgent(model, display=False, **options)
    except TypeError:
        return CaveAgent(model, **options)


def in_process():
    from cave_agent.runtime import IPythonRuntime

    return IPythonRuntime()


def in_kernel():
    from cave_agent.runtime import IPyKernelRuntime

    return IPyKernelRuntime()


async def milliseconds(count, work):
    samples = []
    for _ in range(count):
        start = time.perf_counter()
        await work()
        samples.append((time.perf_counter() - start) * 1000)
    return round(statistics.median(samples), 3)


async def cell_ms():
    runtime = in_process()
    await runtime.execute("x = 1")
    return await milliseconds(50, lambda: runtime.execute("x = 1 + 1"))


async def step_ms():
    steps = 20

    def run():
        model = Scripted([cell("x = 1 + 1")] * steps + ["Done."])
        return make_agent(model, runtime=in_process(), max_steps=steps + 1).run("Go.")

    await run()
    return round(await milliseconds(5, run) / steps, 3)


async def isolated_start_ms():
    start = time.perf_counter()
    async with in_kernel() as runtime:
        await runtime.execute("x = 1")
        return round((time.perf_counter() - start) * 1000, 1)


async def isolated_cell_ms():
    async with in_kernel() as runtime:
        await runtime.execute("x = 1")
        return await milliseconds(20, lambda: runtime.execute("x = 1 + 1"))


async def runtimes_are_separate():
    first, second = in_process(), in_process()
    await first.execute("secret_of_first = 1")
    found = await second.execute("print('secret_of_first' in globals())")
    return "True" not in (found.stdout or "")


async def large_output_is_shown():
    model = Scripted([cell("print('begin ' + 'x' * 20000)"), "Done."])
    await make_agent(model, runtime=in_process(), max_exec_output=1000).run("Go.")
    return "begin x" in json.dumps([str(message) for message in model.requests[-1][2:]][-1])


async def time_out_stops_cell():
    async with in_kernel() as runtime:
        model = Scripted([cell("import time\ntime.sleep(3)\nlate = 1"), "Done."])
        await make_agent(model, runtime=runtime, max_exec_timeout=1).run("Go.")
        await asyncio.sleep(3)
        found = await runtime.execute("print('late' in globals())")
        return "True" not in (found.stdout or "")


async def chunks_do_not_matter():
    from cave_agent.parsing import SegmentType, StreamingTextParser

    text = "Some `text`.\n```python\nprint('``')\nx = '''\n```\n'''\n```\nMore.\n```python\ny = 2\n```\n"
    found = set()
    for size in (1, 2, 3, 7, len(text)):
        parser = StreamingTextParser("python")
        segments = []
        for start in range(0, len(text), size):
            segments += parser.process_chunk(text[start : start + size])
        segments += parser.flush()
        found.add(tuple(segment.content for segment in segments if segment.type == SegmentType.CODE))
    return len(found) == 1


measurements = [
    cell_ms,
    step_ms,
    isolated_start_ms,
    isolated_cell_ms,
    runtimes_are_separate,
    large_output_is_shown,
    time_out_stops_cell,
    chunks_do_not_matter,
]


async def main():
    findings = {}
    for measure in measurements:
        try:
            findings[measure.__name__] = {"value": await asyncio.wait_for(measure(), 60)}
        except BaseException as error:
            findings[measure.__name__] = {"error": f"{type(error).__name__}: {error}"[:200]}
    return findings


output = sys.stdout
sys.stdout = sys.stderr
findings = asyncio.run(main())
print(json.dumps(findings), file=output)
