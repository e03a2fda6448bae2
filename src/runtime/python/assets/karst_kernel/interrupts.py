"""Delays Ctrl-C while a frame is read or written."""

import threading


class Interrupts:
    """Delays Ctrl-C while a frame is read or written, and raises it afterwards, so that no frame is cut off."""

    def __init__(self):
        self._held = 0
        self._pending = False

    def handle(self, _signal, _frame):
        if self._held and threading.current_thread() is threading.main_thread():
            self._pending = True
            return
        raise KeyboardInterrupt

    def held(self):
        return _HoldState(self, 1)

    def allowed(self):
        return _HoldState(self, 0)


class _HoldState:
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
