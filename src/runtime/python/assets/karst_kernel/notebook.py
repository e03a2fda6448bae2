"""Adapts what notebook users type besides plain Python to a session without a person: help, exit(), input(), %reset,
`!command`, and names on a line of their own."""

import ast
import builtins
import io
import re
import sys
import tokenize

from IPython.core.error import UsageError
from IPython.display import display

from . import name_help


def install(shell):
    # IPython's own exit() and quit() would end the kernel.
    shell.user_ns.update(exit=leave, quit=leave)
    # %who does not list these.
    shell.user_ns_hidden.update(exit=leave, quit=leave, Out=shell.user_ns["Out"])
    builtins.help = Help(builtins.help)
    name_help.install(shell)
    # A pager waits for a person: print what would be in it.
    shell.set_hook("show_in_pager", print_page, 0)
    shell.register_magic_function(refuse_reset, "line", "reset")
    sys.breakpointhook = refuse_breakpoint
    # The other way to run `!command` gives it a terminal, where a program may wait for a person.
    shell.system = shell.system_raw
    setattr(builtins, SHOW, show_looked_at)
    shell.ast_transformers.append(ShowLookedAt())
    shell.events.register("post_execute", lambda: show_agg_figures(shell))
    kernel = getattr(shell, "kernel", None)
    if kernel is not None:
        kernel.raw_input, kernel.getpass = refuse_input("input()"), refuse_input("getpass()")


def show_agg_figures(shell):
    """Shows the open figures if the cell chose the backend Agg, as scripts do: there, `plt.show()` shows nothing."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not pyplot.get_fignums() or pyplot.get_backend().lower() != "agg":
        return
    from IPython.core.pylabtools import select_figure_formats

    select_figure_formats(shell, {"png"})
    for number in pyplot.get_fignums():
        display(pyplot.figure(number))
    pyplot.close("all")


SHOW = "__karst_show__"


class ShowLookedAt(ast.NodeTransformer):
    """Shows a name, member or item that is a statement of its own in the middle of a cell (`df`, `order.total`). Such a
    line has no other purpose, and a notebook would show it only at the end."""

    def visit_Module(self, node):
        for statement in node.body[:-1]:
            if isinstance(statement, ast.Expr) and _is_look(statement.value):
                function = ast.copy_location(ast.Name(SHOW, ast.Load()), statement)
                statement.value = ast.copy_location(ast.Call(function, [statement.value], []), statement)
        return node


def _is_look(node):
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name)


def show_looked_at(value):
    if value is not None:
        display(value)


def ends_with_semicolon(code):
    """Returns True if the last statement ends with a semicolon, which hides its value. A comment may follow."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        # A magic or a shell command.
        return code.rstrip().endswith(";")
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    last = next((token for token in reversed(tokens) if token.type not in skipped), None)
    return last is not None and last.string == ";"


def leave(code=None):
    """Ends the cell; replaces IPython's exit() and quit()."""
    raise SystemExit(code)


class Help:
    """Python's help(), which shows host objects by their declarations."""

    def __init__(self, original):
        self._original = original

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and name_help.is_host(args[0]):
            print(name_help.host_text(args[0]))
        else:
            self._original(*args, **kwargs)

    def __repr__(self):
        return repr(self._original)


def print_page(_shell, data, start=0, screen_lines=0, pager_cmd=None):
    text = data.get("text/plain", "") if isinstance(data, dict) else data
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    print("\n".join(lines[start:]))


def refuse_input(name):
    def refuse(*_args, **_options):
        raise EOFError(f"{name} has no one to ask: cells run without a person. Write the value into the code.")

    return refuse


def refuse_breakpoint(*_args, **_options):
    raise RuntimeError("breakpoint() needs a person: there is no debugger here. Print what you want to know.")


def refuse_reset(_text):
    raise UsageError("%reset would remove the host's objects too. Delete your own names instead: del name")
