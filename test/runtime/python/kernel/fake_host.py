"""A small host for tests of the kernel. It speaks the protocol over a real socket, from another thread."""

import asyncio
import concurrent.futures
import itertools
import json
import os
import socket
import struct
import sys
import tempfile
import threading
import types

from IPython.core.formatters import DisplayFormatter

ASSETS = os.path.join(os.path.dirname(__file__), *[".."] * 4, "src", "runtime", "python", "assets")
sys.path.insert(0, os.path.abspath(ASSETS))
sys.dont_write_bytecode = True

from karst_kernel import server  # noqa: E402
from karst_kernel.channel import Channel  # noqa: E402

HEAD = struct.Struct("<IBII")
POINT = {"$": "sh", "n": 1, "is": "object", "name": "Account", "methods": ["deposit"], "values": ["hist"], "iterable": False}
FUNCTION = {"$": "sh", "n": 2, "is": "function", "name": "wipe", "methods": [], "values": []}
CLASS = {"$": "sh", "n": 3, "is": "class", "name": "Account", "methods": [], "values": []}


class Reply:
    """An answer with buffers, shapes or special values; `text` replaces the JSON of the value."""

    def __init__(self, value=None, buffers=(), special=False, shapes=(), text=None, fail=None):
        self.value, self.buffers, self.special, self.shapes, self.text, self.fail = value, buffers, special, shapes, text, fail


class FakeHost:
    """`answer(message, buffers)` returns the result of an operation, or a Reply."""

    def __init__(self, answer=lambda _message, _buffers: None):
        self.answer = answer
        self.messages = []
        self.buffers = {}
        self.answers = {}
        self.numbers = itertools.count(1)
        self.reports = concurrent.futures.Future()
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "host")
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(path)
        listening.listen(1)
        self.loop = asyncio.new_event_loop()
        self.channel = Channel(path, "token", self.loop)
        self.socket, _ = listening.accept()
        listening.close()
        self.writing = threading.Lock()
        self.shell = fake_shell()
        self.namespace = self.shell.user_ns
        real_output, server.Output = server.Output, FakeOutput
        try:
            server.connect(self.shell, self.channel)
        finally:
            server.Output = real_output
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def close(self):
        self.loop.remove_reader(self.channel.socket)
        self.channel.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.channel.socket.close()
        self.socket.close()
        self.loop.close()
        self.folder.cleanup()

    def run(self):
        while True:
            head = self.take(HEAD.size)
            if head is None:
                return
            size, special, length, count = HEAD.unpack(head)
            rest = self.take(size + 4 - HEAD.size)
            sizes = struct.unpack_from(f"<{count}I", rest)
            at = 4 * count + length
            message = json.loads(rest[4 * count : at])
            buffers = []
            for each in sizes:
                buffers.append(rest[at : at + each])
                at += each
            message["special"] = bool(special)
            self.messages.append(message)
            self.accept(message, buffers)

    def take(self, size):
        parts = bytearray()
        while len(parts) < size:
            try:
                data = self.socket.recv(size - len(parts))
            except OSError:
                return None
            if not data:
                return None
            parts += data
        return bytes(parts)

    def accept(self, message, buffers):
        kind = message["k"]
        if kind == "op":
            found = self.answer(message, buffers)
            # Whether the write replaced a value that the cell had not read, and the digest of the new value.
            if message["op"] == "set" and not isinstance(found, Reply):
                found = [False, ""] if "was" in message else None
            self.reply(message["i"], found)
        elif kind == "cell":
            self.reports.set_result(message)
        elif kind in ("reply", "fail"):
            self.answers.pop(message["i"]).set_result(message)

    def reply(self, number, found):
        reply = found if isinstance(found, Reply) else Reply(found)
        body = {"sh": list(reply.shapes)} if reply.shapes else {}
        if reply.fail:
            return self.send({"k": "fail", "i": number, "e": reply.fail})
        message = {**body, "k": "reply", "i": number, "v": reply.value}
        self.send(message, reply.buffers, reply.special or bool(reply.shapes), reply.text)

    def send(self, message, buffers=(), special=False, text=None):
        data = json.dumps(message, separators=(",", ":"))
        if text is not None:
            data = data.replace('"v":null', f'"v":{text}')
        data = data.encode()
        size = HEAD.size - 4 + 4 * len(buffers) + len(data) + sum(map(len, buffers))
        head = HEAD.pack(size, special, len(data), len(buffers)) + struct.pack(f"<{len(buffers)}I", *map(len, buffers))
        with self.writing:
            self.socket.sendall(head + data + b"".join(buffers))

    def ask(self, op, **body):
        """Asks the kernel and returns a future of its answer. The kernel answers only while the main thread runs."""
        number = next(self.numbers)
        answer = self.answers[number] = concurrent.futures.Future()
        special = "$" in json.dumps(body)
        self.send({"k": "ask", "op": op, "i": number, **body}, (), special)
        return answer

    def wait(self, future):
        """Runs the kernel's loop until the host has an answer."""
        asyncio.set_event_loop(self.loop)
        return self.loop.run_until_complete(asyncio.wait_for(asyncio.wrap_future(future, loop=self.loop), 20))

    def cell(self, code, execution="cell-1", **names):
        """Runs a cell as Jupyter does, and returns its report."""
        self.namespace.update(names)
        self.wait(self.ask("begin", x=execution, times=None, seed=None, tells=False, show=None, keep=None, finish=False))
        self.reports = concurrent.futures.Future()
        self.trigger("pre_run_cell", types.SimpleNamespace(raw_cell="" if callable(code) else code))
        info = types.SimpleNamespace(raw_cell="" if callable(code) else code)
        result = types.SimpleNamespace(result=None, error_before_exec=None, error_in_exec=None, info=info)
        try:
            if callable(code):
                result.result = code()
            else:
                exec(compile(code, "cell-1.py", "exec"), self.namespace)
        except Exception as error:
            result.error_in_exec = error
        self.trigger("post_run_cell", result)
        return self.wait(self.reports)

    def async_cell(self, work, execution="cell-1"):
        """Runs a cell that awaits. It runs in a task, and is reported outside of it."""
        self.wait(self.ask("begin", x=execution, times=None, seed=None, tells=False, show=None, keep=None, finish=False))
        self.reports = concurrent.futures.Future()
        info = types.SimpleNamespace(raw_cell="")
        result = types.SimpleNamespace(result=None, error_before_exec=None, error_in_exec=None, info=info)

        async def run():
            self.trigger("pre_run_cell", types.SimpleNamespace(raw_cell=""))
            return await work()

        try:
            result.result = self.loop.run_until_complete(run())
        except Exception as error:
            result.error_in_exec = error
        self.trigger("post_run_cell", result)
        return self.wait(self.reports)

    def trigger(self, event, given):
        for handler in self.shell.handlers[event]:
            handler(given)

    def object(self, number=1, shape=POINT):
        """Returns Python's handle of a host object."""
        self.channel.objects.add_shape(dict(shape))
        return self.channel.objects.receive(number, shape["n"])

    def operations(self, op=None):
        return [each for each in self.messages if each["k"] == "op" and op in (None, each["op"])]


class FakeOutput:
    def __init__(self, _channel):
        pass

    def flush(self):
        pass

    def drain(self):
        pass


def fake_shell():
    handlers = {"pre_run_cell": [], "post_execute": [], "post_run_cell": []}
    return types.SimpleNamespace(
        user_ns={"__name__": "__main__"},
        user_ns_hidden={},
        handlers=handlers,
        compile=types.SimpleNamespace(),
        ast_transformers=[],
        transform_cell=lambda code: code,
        displayhook=types.SimpleNamespace(),
        display_formatter=DisplayFormatter(),
        display_pub=types.SimpleNamespace(publish=lambda **_shown: None),
        register_magic_function=lambda *_magic: None,
        set_hook=lambda *_hook: None,
        should_run_async=lambda *_code, **_more: False,
        system_raw=lambda _command: None,
        input_transformer_manager=types.SimpleNamespace(cleanup_transforms=[]),
        events=types.SimpleNamespace(register=lambda event, handler: handlers[event].append(handler)),
    )
