"""Sends what Python prints to the host, both streams in the order they were written."""

import codecs
import collections
import io
import os
import select
import sys
import threading
import time

LARGEST = 32 * 1024
LARGEST_PIECE = 1024 * 1024
PAUSE = 0.02


class Output:
    """Sends what is printed at once after a silence, and gathered while much is printed."""

    def __init__(self, channel):
        self._channel = channel
        self._parts = []
        # Printed by finalisers that interrupt a write to the host: taking the lock there could block for ever.
        self._set_aside = collections.deque()
        self._length = 0
        self._sent = 0.0
        self._lock = threading.RLock()
        self._waiting = threading.Event()
        self._pipes = {_redirected(1): ("stdout", _decoder()), _redirected(2): ("stderr", _decoder())}
        for work in (self._send_late, self._read_always):
            threading.Thread(target=work, daemon=True).start()
        sys.stdout, sys.stderr = Stream(self, "stdout", 1), Stream(self, "stderr", 2)

    def write(self, stream, text):
        if self._channel.is_interrupted():
            self._set_aside.append((stream, [text]))
            self._waiting.set()
            return
        with self._lock:
            if self._parts and self._parts[-1][0] == stream:
                self._parts[-1][1].append(text)
            else:
                self._parts.append((stream, [text]))
            self._length += len(text)
            full = self._length > LARGEST
            if not full and not (text.endswith("\n") and time.monotonic() - self._sent > PAUSE):
                self._waiting.set()
                return
            self.flush()

    def flush(self):
        if (not self._parts and not self._set_aside) or self._channel.is_interrupted():
            return
        with self._lock:
            parts, self._parts, self._length = self._parts, [], 0
            while self._set_aside:
                parts.append(self._set_aside.popleft())
            self._sent = time.monotonic()
            for stream, texts in parts:
                text = "".join(texts)
                for start in range(0, len(text), LARGEST_PIECE):
                    self._channel.send({"k": "out", "s": stream, "t": text[start : start + LARGEST_PIECE]})

    def drain(self):
        """Sends all that was printed so far, also by programs that Python started."""
        with self._lock:
            while self._read(0):
                pass
            self.flush()

    def _read(self, patience):
        """Takes what came directly through the descriptors, past Python's own streams."""
        found, _, _ = select.select(list(self._pipes), [], [], patience)
        with self._lock:
            for pipe in found:
                stream, decoder = self._pipes[pipe]
                try:
                    text = decoder.decode(os.read(pipe, LARGEST))
                except BlockingIOError:
                    # Somebody else was faster.
                    continue
                if text:
                    self.write(stream, text)
        return found

    def _read_always(self):
        while True:
            self._read(None)

    def _send_late(self):
        while self._waiting.wait():
            self._waiting.clear()
            time.sleep(PAUSE)
            self.flush()


def _redirected(descriptor):
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.dup2(writing, descriptor)
    os.close(writing)
    return reading


def _decoder():
    return codecs.getincrementaldecoder("utf-8")("replace")


class Stream(io.TextIOBase):
    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, output, name, descriptor):
        self._output = output
        self.name = f"<{name}>"
        self._stream = name
        self._descriptor = descriptor
        self._process = os.getpid()

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if os.getpid() != self._process:
            # In a forked process only the descriptors lead to the host.
            os.write(self._descriptor, text.encode(errors=self.errors))
        elif text:
            self._output.write(self._stream, text)
        return len(text)

    def flush(self):
        if os.getpid() == self._process:
            self._output.flush()

    def writable(self):
        return True

    def fileno(self):
        return self._descriptor

    def set_parent(self, _parent):
        """Jupyter's own streams are told which cell they print for; here the host knows."""
