"""The socket between the kernel and its host, apart from Jupyter's: frames of JSON and buffers in both directions.
Calls are answered in any order."""

import asyncio
import collections
import itertools
import json
import os
import re
import select
import socket
import threading

from . import frames
from .cannot_cross import CannotCross
from .executions import current
from .interrupts import Interrupts

# Dropped objects are released at the end of a cell, and before that if there are this many.
MAX_DROPPED = 500


class Channel:
    """Sends operations on host objects and receives the host's questions. A thread that waits for an answer also reads
    the answers for all other threads. So a call from the main thread needs no thread switch, and a call from another
    thread is answered while the main thread is busy. The host's questions are served in the main thread only: when it
    is idle, or while it waits for an answer."""

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
        self.recorded_env = None
        self.serve = None
        self._numbers = itertools.count(1)
        self._buffer = bytearray()
        self._writing = threading.RLock()
        # The ids of the threads that are reading and writing. A finaliser may interrupt either.
        self._reader = self._writer = None
        self._reader_changed = threading.Condition()
        # How many answers the main thread waits for: that of its own call and those of nested calls from callbacks.
        self._main_waits = 0
        self._deferred_frames = collections.deque()
        self._answers = {}
        self._expected = set()
        self._futures = {}
        self._questions = collections.deque()
        self.send({"k": "hello", "token": token})
        loop.add_reader(self.socket, self._on_readable)

    def operate(self, op, owner, path=(), value=None, whole=False, **more):
        """Performs an operation on a host object, waits, and returns the reply message."""
        return self.request(*self._operation(op, owner, path, value, whole, more))

    def operate_later(self, op, owner, path=(), value=None, whole=False):
        """Like `operate`, but returns a future of the result at once."""
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
            raise CannotCross(error.reason, describe_argument(op, title, error.path)) from None
        message["v"] = coded.json
        return message, coded.buffers, coded.special

    def request(self, message, buffers=(), special=False):
        """Sends a message that the host answers, and waits for the reply. Ctrl-C stops the wait."""
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
        """Like `request`, but returns a future of the result at once."""
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
        """Returns True if this thread is reading or writing a frame, so that the caller is a finaliser."""
        return threading.get_ident() in (self._reader, self._writer)

    def _prepare(self):
        if self.is_interrupted():
            raise RuntimeError("The host cannot be called from a finaliser that interrupts another call of the host.")
        self.recorded_env.send_updates()
        self.objects.release_dropped(MAX_DROPPED)

    def send(self, message, buffers=(), special=False):
        if os.getpid() != self._process:
            raise RuntimeError("The host cannot be reached from a forked process: give the result back and go on here.")
        frame = frames.pack(message, buffers, special)
        if self._writer == threading.get_ident():
            # A finaliser prints while this thread writes a frame: send its frame afterwards.
            self._deferred_frames.append(frame)
            return
        with self.interrupts.held(), self._writing:
            self._writer = threading.get_ident()
            try:
                self._write(frame)
                while self._deferred_frames:
                    self._write(self._deferred_frames.popleft())
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
        """Reads answers while a frame waits to be written: the host does not read while its own answers are unread."""
        reads = self._become_reader()
        try:
            # If another thread reads, check again after a while: it may stop before the socket is writable.
            readable, _, _ = select.select([self.socket] if reads else [], [self.socket], [], None if reads else 0.02)
            if readable:
                self._receive()
        finally:
            if reads:
                self._stop_reading()
        if self._questions:
            self.loop.call_soon_threadsafe(self._serve_questions)

    def _become_reader(self):
        with self._reader_changed:
            if self._reader is not None:
                return False
            self._reader = threading.get_ident()
            return True

    def _stop_reading(self):
        with self._reader_changed:
            self._reader = None
            self._reader_changed.notify_all()

    def is_main_waiting(self):
        """Returns True if the main thread waits for an answer, which blocks its event loop."""
        return self._main_waits > 0

    def _wait(self, number):
        main = threading.current_thread() is threading.main_thread()
        # Only the main thread changes the counter: an addition is not atomic.
        if main:
            self._main_waits += 1
        try:
            with self.interrupts.held():
                while True:
                    question = None
                    with self._reader_changed:
                        while True:
                            # Serve questions that came before the answer first: callbacks that the host does not await.
                            if main and self._questions:
                                question = self._questions.popleft()
                                break
                            if number in self._answers:
                                return self._answers.pop(number)
                            if self._reader is None:
                                self._reader = threading.get_ident()
                                break
                            with self.interrupts.allowed():
                                self._reader_changed.wait()
                    if question:
                        with self.interrupts.allowed():
                            self.serve(question)
                        continue
                    try:
                        with self.interrupts.allowed():
                            select.select([self.socket], [], [])
                        self._receive()
                    finally:
                        self._stop_reading()
        finally:
            if main:
                self._main_waits -= 1
            if main and self._questions:
                self.loop.call_soon(self._serve_questions)

    def _on_readable(self):
        if not self._become_reader():
            return
        try:
            self._receive()
        finally:
            self._stop_reading()
        self._serve_questions()

    def _serve_questions(self):
        while self._questions:
            self.serve(self._questions.popleft())

    def _receive(self):
        try:
            data = self.socket.recv(1 << 20, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        if not data:
            # The host has ended, and the kernel ends with it.
            os._exit(0)
        self._buffer += data
        for text, buffers, special in frames.take(self._buffer):
            self._accept(text, buffers, special)

    def _accept(self, text, buffers, special):
        """Passes an answer to the thread that waits for it, and a question to the main thread."""
        try:
            message = self.values.decode(text, buffers, special)
        except Exception as error:
            # Parse the plain JSON to find out which request or question failed.
            plain = json.loads(text)
            message = {"k": "fail", "i": plain["i"], "e": {"name": type(error).__name__, "message": str(error)}}
            if plain["k"] == "ask":
                message = {"k": "ask", "i": plain["i"], "op": "unreadable", "error": error}
        if message["k"] in ("reply", "fail"):
            # `field_copies` compares a copied field with this frame later, to find out if the cell changed it.
            message["frame"] = (text, buffers, special)
            number = message["i"]
            future = self._futures.pop(number, None)
            if future:
                self._settle_later(future, message)
            elif number in self._expected:
                self._expected.discard(number)
                self._answers[number] = message
            return
        self._questions.append(message)
        if threading.current_thread() is not threading.main_thread():
            self.loop.call_soon_threadsafe(self._serve_questions)

    def _settle_later(self, future, message):
        try:
            future.get_loop().call_soon_threadsafe(self._settle, future, message)
        except RuntimeError:
            # The event loop of that thread has ended, and with it the waiting task.
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


def describe_argument(op, title, path):
    """Describes where in an operation's values a path leads: "argument 1 of take(…), at ['name']"."""
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
