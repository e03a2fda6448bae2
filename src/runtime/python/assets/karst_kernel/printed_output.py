"""Sends printed output to the host; stdout and stderr keep their common order."""

import codecs
import collections
import io
import os
import select
import sys
import threading
import time

MAX_BUFFERED = 32 * 1024
MAX_MESSAGE_LENGTH = 1024 * 1024
PAUSE = 0.02


class Output:
    """Sends a line at once after a pause, and collects output while much is printed."""

    def __init__(self, channel):
        self._channel = channel
        self._parts = []
        # Output of finalisers that interrupt a write to the host, where taking the lock could block forever.
        self._set_aside = collections.deque()
        self._length = 0
        self._sent = 0.0
        self._lock = threading.RLock()
        self._has_output = threading.Event()
        self._pipes = {_redirect(1): ("stdout", _create_decoder()), _redirect(2): ("stderr", _create_decoder())}
        for work in (self._send_late, self._read_forever):
            threading.Thread(target=work, daemon=True).start()
        sys.stdout, sys.stderr = Stream(self, "stdout", 1), Stream(self, "stderr", 2)

    def write(self, stream, text):
        if self._channel.is_interrupted():
            self._set_aside.append((stream, [text]))
            self._has_output.set()
            return
        with self._lock:
            if self._parts and self._parts[-1][0] == stream:
                self._parts[-1][1].append(text)
            else:
                self._parts.append((stream, [text]))
            self._length += len(text)
            full = self._length > MAX_BUFFERED
            if not full and not (text.endswith("\n") and time.monotonic() - self._sent > PAUSE):
                self._has_output.set()
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
                for start in range(0, len(text), MAX_MESSAGE_LENGTH):
                    self._channel.send({"k": "out", "s": stream, "t": text[start : start + MAX_MESSAGE_LENGTH]})

    def drain(self):
        """Sends everything printed so far, also by programs that Python started."""
        with self._lock:
            while self._read(0):
                pass
            self.flush()

    def _read(self, timeout):
        """Reads output written directly to the file descriptors, not through sys.stdout and sys.stderr."""
        found, _, _ = select.select(list(self._pipes), [], [], timeout)
        with self._lock:
            for pipe in found:
                stream, decoder = self._pipes[pipe]
                try:
                    text = decoder.decode(os.read(pipe, MAX_BUFFERED))
                except BlockingIOError:
                    # Another thread has read it.
                    continue
                if text:
                    self.write(stream, text)
        return found

    def _read_forever(self):
        while True:
            self._read(None)

    def _send_late(self):
        while self._has_output.wait():
            self._has_output.clear()
            time.sleep(PAUSE)
            self.flush()


def _redirect(descriptor):
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.dup2(writing, descriptor)
    os.close(writing)
    return reading


def _create_decoder():
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
            # In a forked process only the file descriptors lead to the host.
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
        """Called by Jupyter with the cell that prints; the host knows that already."""
