"""`finish(text)` of a cell: records the text with which the run ends if the cell succeeds. It does not end the cell."""

import inspect

from .executions import current

MAX_CHARS = 1_000_000
MAX_SHOWN_CHARS = 100_000


class Finish:
    def __init__(self, executions, formatter):
        self._executions = executions
        self._formatter = formatter
        self._is_allowed = False
        # The text that the running cell passed to `finish`.
        self.text = None

    def begin(self, is_allowed):
        """Called when the host announces a cell. `is_allowed`: whether the cell belongs to the run of an agent."""
        self._is_allowed = is_allowed
        self.text = None

    def function(self):
        """Returns the function that cells call."""

        def finish(text):
            """Ends the run with this answer when the cell has succeeded."""
            self._record(text)

        return finish

    def _record(self, value):
        running = self._executions.running
        if running is None or current() != running:
            raise RuntimeError("finish() was called after its cell had ended. Wait for what calls it.")
        if not self._is_allowed:
            raise RuntimeError("finish() has no effect here: this cell belongs to no run of an agent.")
        if self.text is not None:
            raise RuntimeError(
                "finish() was already called in this cell. It does not end the cell: call it once, at the end."
            )
        text = self._text_of(value)
        if not text.strip():
            raise TypeError("finish(text): The text is empty.")
        # The host counts characters as UTF-16 does.
        length = len(text.encode("utf-16-le", "surrogatepass")) // 2
        if length > MAX_CHARS:
            raise TypeError(f"finish(text): The text has {length:,} characters; at most {MAX_CHARS:,} are possible.")
        self.text = text

    def _text_of(self, value):
        """Returns a text as it is, and any other value as the output of a cell shows it."""
        if isinstance(value, str):
            return str(value)
        if value is None:
            raise TypeError("finish(text) takes the answer, not None.")
        if inspect.isawaitable(value):
            raise TypeError("finish(text) got an awaitable: await it first.")
        text, is_cut = self._formatter.text_of(value, MAX_SHOWN_CHARS)
        if is_cut:
            raise TypeError(
                "finish(text): the value is too large to be shown whole. Pass a text, such as json.dumps(value), or "
                "value.to_string() of a table."
            )
        return text
