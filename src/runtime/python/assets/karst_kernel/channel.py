"""The side socket: frames of JSON and buffers, both ways, with calls answered in any order."""

import asyncio
import collections
import itertools
import json
import os
import re
import select
import socket
import struct
import threading

from .crossing import CannotCross
from .executions import current

# Length of the rest, whether the JSON holds more than plain data, length of the JSON, number of buffers. The length of
# each buffer follows, then the JSON, then the buffers.
HEAD = struct.Struct("<IBII")
# The limits of the host. It ends a kernel that sends more.
LARGEST_FRAME = 2**29
LARGEST_JSON = 2**26
MOST_BUFFERS = 2**20
# The host is told of dropped objects at the end of a cell, and before that when there are so many.
MOST_DROPPED = 500
# Made once: making one takes longer than what it does for a small message.
encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class Channel:
    """Operations on host objects, and the host's questions. A thread that waits for an answer reads for all others, so a call
    from the main thread changes no thread, and one from another thread is answered while the main thread is busy. The host's
    questions are served in the main thread alone: when it is idle, or while it waits for an answer of its own."""

    def __init__(self, path, token, loop):
        self.loop = loop
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self._process = os.getpid()
        self.interrupts = Interrupts()
        self.values = None
        self.objects = None
        self.copies = None
        self.output = None
        self.world = None
        self.serve = None
        self._numbers = itertools.count(1)
        self._buffer = bytearray()
        self._writing = threading.RLock()
        # The threads that read and write now, by number. A finaliser may run in the middle of both.
        self._reader = self._writer = None
        self._turn = threading.Condition()
        # How many answers the main thread waits for: that of its call, and those of calls that its callbacks make.
        self._main_waits = 0
        self._later = collections.deque()
        self._answers = {}
        self._expected = set()
        self._futures = {}
        self._asked = collections.deque()
        self.send({"k": "hello", "token": token})
        loop.add_reader(self.socket, self._on_readable)

    def operate(self, op, owner, path=(), value=None, whole=False, **more):
        """Performs an operation on a host object, and waits for the reply, which is given as it came."""
        return self.request(*self._operation(op, owner, path, value, whole, more))

    def operate_later(self, op, owner, path=(), value=None, whole=False):
        """The same without waiting: a future of the result."""
        return self.request_later(*self._operation(op, owner, path, value, whole, {}))

    def _operation(self, op, owner, path, value, whole, more):
        execution = current()
        if execution is None:
            name = ".".join([owner._karst_title, *path])
            raise RuntimeError(
                f"{name}: the host takes operations of cells only, and no cell makes this one. "
                "It comes from a finaliser, or from a thread that no cell started."
            )
        message = {"k": "op", "op": op, "x": execution, "t": owner._karst_id, "p": list(path), **more}
        if value is None:
            return (message,)
        try:
            coded = self.values.encode(value, whole)
        except CannotCross as error:
            title = ".".join([owner._karst_title, *path])
            raise CannotCross(error.reason, argument_place(op, title, error.path)) from None
        message["v"] = coded.json
        return message, coded.buffers, coded.special

    def request(self, message, buffers=(), special=False):
        """Sends a message that the host answers, and waits for the reply. Ctrl-C ends the waiting."""
        self._prepare()
        number = message["i"] = next(self._numbers)
        self._expected.add(number)
        try:
            self.send(message, buffers, special)
            reply = self._wait(number)
        finally:
            self._expected.discard(number)
            self._answers.pop(number, None)
        self._check(reply)
        return reply

    def request_later(self, message, buffers=(), special=False):
        """The same without waiting: a future of the result."""
        self._prepare()
        number = message["i"] = next(self._numbers)
        try:
            future = asyncio.get_running_loop().create_future()
        except RuntimeError:
            future = self.loop.create_future()
        self._futures[number] = future
        self.send(message, buffers, special)
        return future

    def is_interrupted(self):
        """Whether this thread is in the middle of reading or writing: a finaliser runs."""
        return threading.get_ident() in (self._reader, self._writer)

    def _prepare(self):
        if self.is_interrupted():
            raise RuntimeError("The host cannot be called from a finaliser that interrupts another call of the host.")
        self.world.tell()
        self.objects.release_dropped(MOST_DROPPED)

    def send(self, message, buffers=(), special=False):
        if os.getpid() != self._process:
            raise RuntimeError("The host cannot be reached from a forked process: give the result back and go on here.")
        text = encode(message).encode()
        lengths = [len(buffer) for buffer in buffers]
        size = HEAD.size - 4 + 4 * len(lengths) + len(text) + sum(lengths)
        if size > LARGEST_FRAME - 4 or len(text) > LARGEST_JSON or len(lengths) > MOST_BUFFERS:
            raise TooLarge(
                f"{size / 2**20:.0f} MB are too large to cross at once; 512 MB cross as bytes, numpy array or DataFrame, "
                "64 MB as anything else"
            )
        head = HEAD.pack(size, special, len(text), len(lengths))
        if lengths:
            head += struct.pack(f"<{len(lengths)}I", *lengths)
        frame = [head + text, *buffers]
        if self._writer == threading.get_ident():
            # A finaliser prints while this thread writes a frame: its own comes after that one.
            self._later.append(frame)
            return
        with self.interrupts.held(), self._writing:
            self._writer = threading.get_ident()
            try:
                self._write(frame)
                while self._later:
                    self._write(self._later.popleft())
            finally:
                self._writer = None

    def _write(self, frame):
        for part in frame:
            left = memoryview(part)
            while len(left) > 0:
                try:
                    left = left[self.socket.send(left, socket.MSG_DONTWAIT) :]
                except BlockingIOError:
                    self._read_until_writable()

    def _read_until_writable(self):
        """The host stops reading while its answers are unread. So they are read while a frame waits to be written."""
        reads = self._take_turn()
        try:
            # Another thread that reads may stop before there is room, so it is asked again after a while.
            readable, _, _ = select.select([self.socket] if reads else [], [self.socket], [], None if reads else 0.02)
            if readable:
                self._receive()
        finally:
            if reads:
                self._end_turn()
        if self._asked:
            self.loop.call_soon_threadsafe(self._serve_asked)

    def _take_turn(self):
        with self._turn:
            if self._reader is not None:
                return False
            self._reader = threading.get_ident()
            return True

    def _end_turn(self):
        with self._turn:
            self._reader = None
            self._turn.notify_all()

    def is_main_waiting(self):
        """Whether the main thread waits for an answer, so that its event loop stands still."""
        return self._main_waits > 0

    def _wait(self, number):
        main = threading.current_thread() is threading.main_thread()
        # Other threads must not write it: an addition is no single step.
        if main:
            self._main_waits += 1
        try:
            with self.interrupts.held():
                while True:
                    asked = None
                    with self._turn:
                        while True:
                            # What the host asked before it answered is served before: a callback that it does not wait for.
                            if main and self._asked:
                                asked = self._asked.popleft()
                                break
                            if number in self._answers:
                                return self._answers.pop(number)
                            if self._reader is None:
                                self._reader = threading.get_ident()
                                break
                            with self.interrupts.allowed():
                                self._turn.wait()
                    if asked:
                        with self.interrupts.allowed():
                            self.serve(asked)
                        continue
                    try:
                        with self.interrupts.allowed():
                            select.select([self.socket], [], [])
                        self._receive()
                    finally:
                        self._end_turn()
        finally:
            if main:
                self._main_waits -= 1
            if main and self._asked:
                self.loop.call_soon(self._serve_asked)

    def _on_readable(self):
        if not self._take_turn():
            return
        try:
            self._receive()
        finally:
            self._end_turn()
        self._serve_asked()

    def _serve_asked(self):
        while self._asked:
            self.serve(self._asked.popleft())

    def _receive(self):
        try:
            data = self.socket.recv(1 << 20, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        if not data:
            # The host is gone, so there is nothing left to do.
            os._exit(0)
        self._buffer += data
        while len(self._buffer) >= HEAD.size:
            size, special, length, count = HEAD.unpack_from(self._buffer)
            end = 4 + size
            if len(self._buffer) < end:
                return
            frame = bytes(memoryview(self._buffer)[HEAD.size : end])
            del self._buffer[:end]
            start = 4 * count + length
            text = frame[4 * count : start]
            buffers = []
            for taken in struct.unpack_from(f"<{count}I", frame) if count else ():
                buffers.append(memoryview(frame)[start : start + taken])
                start += taken
            self._accept(text, buffers, special)

    def _accept(self, text, buffers, special):
        """Gives an answer to the thread that waits for it, and a question to the main thread."""
        try:
            message = self.values.decode(text, buffers, special)
        except Exception as error:
            # Read without its values, the message says which request or question failed.
            plain = json.loads(text)
            message = {"k": "fail", "i": plain["i"], "e": {"name": type(error).__name__, "message": str(error)}}
            if plain["k"] == "ask":
                message = {"k": "ask", "i": plain["i"], "op": "unreadable", "error": error}
        if message["k"] in ("reply", "fail"):
            # Of a copy that is read as a field, the frame tells later whether it was changed.
            message["frame"] = (text, buffers, special)
            number = message["i"]
            future = self._futures.pop(number, None)
            if future:
                self._settle_later(future, message)
            elif number in self._expected:
                self._expected.discard(number)
                self._answers[number] = message
            return
        self._asked.append(message)
        if threading.current_thread() is not threading.main_thread():
            self.loop.call_soon_threadsafe(self._serve_asked)

    def _settle_later(self, future, message):
        try:
            future.get_loop().call_soon_threadsafe(self._settle, future, message)
        except RuntimeError:
            # The loop of a thread has ended, and with it the task that waited.
            pass

    def _settle(self, future, message):
        if future.done():
            return
        try:
            self._check(message)
            future.set_result(message.get("v"))
        except Exception as error:
            future.set_exception(error)

    def _check(self, reply):
        if reply["k"] == "fail":
            raise self.values.host_error(reply["e"])


def argument_place(op, title, path):
    """The place of a part of an operation's values, as people call it: "argument 1 of take(…), at ['name']"."""
    steps = re.findall(r"\[[^\]]*\]", path)
    if op == "set":
        name, rest = f"the value for {title}", steps[1:]
    elif len(steps) < 2:
        return path
    elif steps[0] == "[0]":
        name, rest = f"argument {int(steps[1][1:-1]) + 1} of {title}(…)", steps[2:]
    else:
        name, rest = f"the argument {steps[1][2:-2]} of {title}(…)", steps[2:]
    return f"{name}, at {''.join(rest)}" if rest else name


class TooLarge(ValueError):
    pass


class Interrupts:
    """Keeps Ctrl-C from tearing a frame: it is held back while one is read or written, and raised afterwards."""

    def __init__(self):
        self._held = 0
        self._pending = False

    def handle(self, _signal, _frame):
        if self._held and threading.current_thread() is threading.main_thread():
            self._pending = True
            return
        raise KeyboardInterrupt

    def held(self):
        return _Change(self, 1)

    def allowed(self):
        return _Change(self, 0)


class _Change:
    def __init__(self, interrupts, held):
        self.interrupts = interrupts
        self.to = held
        self.main = threading.current_thread() is threading.main_thread()

    def __enter__(self):
        if self.main:
            self.before = self.interrupts._held
            self.interrupts._held = self.to
            self._check()

    def __exit__(self, kind, _value, _traceback):
        if self.main:
            self.interrupts._held = self.before
            if kind is None:
                self._check()

    def _check(self):
        if self.interrupts._pending and not self.interrupts._held:
            self.interrupts._pending = False
            raise KeyboardInterrupt
