"""Writes the values that IPython displays as text: containers within a budget, other values as their class says."""

from IPython.core.display import TextDisplayObject
from IPython.core.formatters import PlainTextFormatter
from IPython.lib import pretty

from .show import DEFAULT_BUDGET, is_structured, leaves_out, show


class ResultFormatter(PlainTextFormatter):
    """Replaces IPython's formatter of plain text."""

    budget = DEFAULT_BUDGET
    # The object that was written last, and whether its text leaves something out.
    written = None
    cut = False

    def __call__(self, value):
        self.written, self.cut = value, False
        if not self._has_printer(type(value)) and is_structured(value):
            text, self.cut = show(value, self.budget)
            return text
        # HTML, Markdown and LaTeX are shown as their source.
        text = value.data if isinstance(value, TextDisplayObject) else super().__call__(value)
        if not isinstance(text, str):
            return text
        # Tables and arrays shorten themselves.
        self.cut = leaves_out(text) and hasattr(value, "shape")
        if len(text) <= self.budget:
            return text
        self.cut = True
        tail = self.budget // 4
        left = len(text) - self.budget
        return f"{text[: self.budget - tail]}\n… {left:,} of {len(text):,} characters left out …\n{text[-tail:]}"

    def text_of(self, value, budget):
        """Returns the text of a value that is not displayed, and whether it leaves something out."""
        before = self.budget, self.written, self.cut
        try:
            self.budget = budget
            return str(self(value)), self.cut
        finally:
            self.budget, self.written, self.cut = before

    def _has_printer(self, kind):
        """Returns True if a cell or a library registered how to write this class."""
        own = self.type_printers.get(kind)
        return hasattr(kind, "_repr_pretty_") or own is not pretty._type_pprinters.get(kind)


def install(shell):
    formatter = ResultFormatter(parent=shell.display_formatter)
    shell.display_formatter.formatters["text/plain"] = formatter
    shell.display_pub.publish = _printing_text(shell.display_pub.publish)
    return formatter


def _printing_text(publish):
    """Prints what display() shows as text, so that it keeps its order among the printed lines: the messages of Jupyter
    take another way to the host. Images and updates of what was shown go that way."""

    def publish_or_print(data, metadata=None, **options):
        has_image = "image/png" in data or "image/jpeg" in data
        if has_image or options.get("update") or not isinstance(data.get("text/plain"), str):
            publish(data=data, metadata=metadata, **options)
        else:
            print(data["text/plain"])

    return publish_or_print
