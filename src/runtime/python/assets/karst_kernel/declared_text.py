"""Texts inside declarations: documentation, comments and names. No text can end the comment, docstring or line it is in,
and every text has a maximum length."""

import inspect
import re

# The first paragraph of the documentation of a member.
MAX_PARAGRAPH = 300
MAX_LINE = 2000


def doc_of(value):
    # Not inspect.getdoc(), which also returns inherited documentation.
    doc = getattr(value, "__doc__", None)
    return inspect.cleandoc(doc) if isinstance(doc, str) and doc.strip() else None


def first_paragraph(doc):
    """The first paragraph as one line."""
    return cut(one_line(re.split(r"\n\s*\n", doc.strip())[0]), MAX_PARAGRAPH) if doc else None


def doc_text(doc, indent):
    """A docstring that no text can end, of the lines of the text."""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", " ", re.sub("\r\n?|[\u2028\u2029]", "\n", doc.strip()))
    body = text.replace("\\", "\\\\").replace('"""', "'''").replace("\n", "\n" + indent)
    return f'{indent}"""{body}{" " if body.endswith(chr(34)) else ""}"""'


def body_text(doc, indent):
    return "\n" + doc_text(doc, indent) if doc else " ..."


def one_line(text):
    """A text for a comment: one line without control characters."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+\s*", " ", cut(text, MAX_LINE)).strip()


def cut(text, length):
    return text if not text or len(text) <= length else text[:length].rstrip() + "…"
