"""The side socket: frames of JSON and buffers, both ways, with calls answered in any order."""

import collections
import itertools
import json
import os
import select
import socket
import struct
import threading

# Length of the rest, whether the JSON holds more than plain data, length of the JSON, number of buffers. The length of
# each buffer follows, then the JSON, then the buffers.
HEAD = struct.Struct("<IBII")
# What the host takes: more would be the end of this kernel.
LARGEST_FRAME = 2**29
LARGEST_JSON = 2**26
MOST_BUFFERS = 2**20
# Made once: making one takes longer than what it does for a small message.
encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class Channel:
    """Whoever waits for an answer reads for everybody else, so a call from the main thread costs no change of thread,
    and one from another thread is answered while the main thread is busy. What the host asks is served in the main
    thread alone: when it is idle, or while it waits for an answer of its own."""

    def __init__(self, path, token, loop):
        self.loop = loop
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self._process = os.getpid()
        self.interrupts = Interrupts()
        self.values = None
        self.world = None
        self.serve = None
        self._numbers = itertools.count(1)
        self._buffer = bytearray()
        self._writing = threading.RLock()
        self._turn = threading.Condition()
        self._reading = False
        self._answers = {}
        self._expected = set()
        self._futures = {}
        self._asked = collections.deque()
        self.send({"k": "hello", "token": token})
        loop.add_reader(self.socket, self._on_readable)

    def request(self, message, buffers=(), special=False):
        """Asks the host and waits for its answer. Ctrl-C ends the waiting."""
        self.world.tell()
        number = message["i"] = next(self._numbers)
        self._expected.add(number)
        try:
            self.send(message, buffers, special)
            return self._result(self._wait(number))
        finally:
            self._expected.discard(number)
            self._answers.pop(number, None)

    def request_later(self, message, buffers=(), special=False):
        """Asks the host and gives a future of its answer."""
        self.world.tell()
        number = message["i"] = next(self._numbers)
        future = self.loop.create_future()
        self._futures[number] = future
        self.send(message, buffers, special)
        return future

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
        with self._writing, self.interrupts.held():
            head = HEAD.pack(size, special, len(text), len(lengths))
            if lengths:
                head += struct.pack(f"<{len(lengths)}I", *lengths)
            self.socket.sendall(head + text)
            for buffer in buffers:
                self.socket.sendall(buffer)

    def _wait(self, number):
        main = threading.current_thread() is threading.main_thread()
        with self.interrupts.held():
            while True:
                asked = None
                with self._turn:
                    while number not in self._answers:
                        if main and self._asked:
                            asked = self._asked.popleft()
                            break
                        if not self._reading:
                            self._reading = True
                            break
                        with self.interrupts.allowed():
                            self._turn.wait()
                    else:
                        return self._answers.pop(number)
                if asked:
                    with self.interrupts.allowed():
                        self.serve(asked)
                    continue
                try:
                    with self.interrupts.allowed():
                        select.select([self.socket], [], [])
                    self._receive()
                finally:
                    with self._turn:
                        self._reading = False
                        self._turn.notify_all()

    def _on_readable(self):
        with self._turn:
            if self._reading:
                return
            self._reading = True
        try:
            self._receive()
        finally:
            with self._turn:
                self._reading = False
                self._turn.notify_all()
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
            # The host is gone, and nobody is left to work for.
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
        """An answer goes to who waits for it; what the host asks waits for the main thread."""
        try:
            message = self.values.decode(text, buffers, special)
        except Exception as error:
            # Whoever is concerned hears of it: the frame itself is plain JSON.
            plain = json.loads(text)
            failure = {"name": type(error).__name__, "message": str(error)}
            message = {"k": "fail", "i": plain["i"], "e": failure}
            if plain["k"] == "ask":
                message = {"k": "ask", "i": plain["i"], "op": "unreadable", "error": error}
        kind = message["k"]
        if kind in ("reply", "fail"):
            number = message["i"]
            future = self._futures.pop(number, None)
            if future:
                self.loop.call_soon_threadsafe(self._settle, future, message)
            elif number in self._expected:
                self._expected.discard(number)
                self._answers[number] = message
            return
        self._asked.append(message)
        if threading.current_thread() is not threading.main_thread():
            self.loop.call_soon_threadsafe(self._serve_asked)

    def _settle(self, future, message):
        if future.done():
            return
        try:
            future.set_result(self._result(message))
        except Exception as error:
            future.set_exception(error)

    def _result(self, message):
        if message["k"] == "reply":
            return message.get("v")
        raise self.values.host_error(message["e"])


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
