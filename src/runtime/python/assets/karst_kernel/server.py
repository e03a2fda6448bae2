"""Answers the host's questions in the main thread, between cells or while a cell waits for the host."""

import asyncio
import contextvars
import inspect
import signal
import socket
import threading

from . import arrays, declarations, skill_modules, snapshots, table_files
from .cannot_cross import CannotCross
from .cells import Cells, failure
from .channel import Channel
from .executions import Executions, propagate_to_threads
from .field_copies import Copies
from .frames import TooLarge
from .objects import Objects
from .printed_output import Output
from .recorded_env import RecordedEnv
from .values import Keywords, Values


def attach(kernel, path, token):
    """Connects a kernel to its host. The host sends nothing before the kernel announces that it is ready."""
    loop = asyncio.get_event_loop_policy().get_event_loop()
    channel = connect(kernel.shell, Channel(path, token, loop))
    listen_for_interrupts(kernel, channel.interrupts, loop)
    channel.send({"k": "ready"})


def connect(shell, channel):
    """Creates the parts that serve a channel, and links them to it."""
    executions = Executions()
    values = channel.values = Values(channel, executions)
    channel.objects = Objects(channel)
    channel.copies = Copies(values, executions, shell.user_ns)
    channel.output = Output(channel)
    channel.recorded_env = RecordedEnv(channel, executions)
    channel.serve = Server(shell, channel, values, executions).serve
    propagate_to_threads()
    return channel


def listen_for_interrupts(kernel, interrupts, loop):
    # Jupyter only sets a flag when an awaiting cell is interrupted. This socket lets the signal wake its event loop.
    reading, writing = socket.socketpair()
    for end in (reading, writing):
        end.setblocking(False)
    loop.add_reader(reading, lambda: reading.recv(4096))
    signal.set_wakeup_fd(writing.detach(), warn_on_full_buffer=False)

    def before_message():
        kernel.saved_sigint_handler = signal.signal(signal.SIGINT, interrupts.handle)

    kernel.pre_handler_hook = before_message


class UnknownName(LookupError):
    pass


class Server:
    def __init__(self, shell, channel, values, executions):
        self.shell = shell
        self.namespace = shell.user_ns
        self.channel = channel
        self.values = values
        self.cells = Cells(shell, values, executions)
        # The exports of skill modules by name, with their descriptions.
        self.exports = {}
        # The digests of injected values from before cells could change them; None for a value that is not data.
        self.digests = {}
        # Unused event loops, each in a thread, for coroutines that the host calls while the cell's loop is blocked.
        self.idle_loops = []

    def serve(self, message):
        if message["k"] == "release":
            for number, count in message["ids"]:
                self.values.release(number, count)
            return
        # The host's use of a Python object runs in the context of the cell that passed the object to the host.
        handed_out = self.values.handed_out.get(message.get("of"))
        context = handed_out.context.copy() if handed_out else contextvars.copy_context()
        context.run(self._answer, message)

    def _answer(self, message):
        number = message["i"]
        try:
            result = getattr(self, "ask_" + message["op"])(message)
            called = message["op"] in ("call", "new")
            if called and (inspect.iscoroutine(result) or isinstance(result, asyncio.Future)):
                self._start(result).add_done_callback(lambda done: self._finish(number, done))
                return
            self._reply(number, result)
        except BaseException as error:
            self._fail(number, error)

    def _start(self, result):
        """Starts a coroutine. The cell's loop cannot run it while the cell waits for the host without `await`."""
        if not self.channel.is_main_waiting():
            return asyncio.ensure_future(result, loop=self.channel.loop)
        if inspect.iscoroutine(result):
            return self._start_in_thread(result)
        raise RuntimeError(
            "The callback gives a future of the cell's event loop, which stands still while the cell waits for the host: "
            "write `await` before the call that was given the callback."
        )

    def _start_in_thread(self, coroutine):
        """Starts a coroutine in another thread, in a loop for it alone: it may call the host without `await`, which
        would block any other coroutine in the same loop."""
        try:
            loop = self.idle_loops.pop()
        except IndexError:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="karst callbacks", daemon=True)
            # An empty context: the thread serves the callbacks of all cells.
            contextvars.Context().run(thread.start)
        done = asyncio.run_coroutine_threadsafe(coroutine, loop)
        done.add_done_callback(lambda _done: self.idle_loops.append(loop))
        return done

    def _finish(self, number, done):
        try:
            self._reply(number, done.result())
        except BaseException as error:
            self._fail(number, error)

    def _reply(self, number, result):
        as_handle = isinstance(result, table_files.AsHandle)
        coded = self.values.encode_object(result.value) if as_handle else self.values.encode(result)
        self.channel.objects.release_dropped()
        self.channel.send({"k": "reply", "i": number, "v": coded.json}, coded.buffers, coded.special)

    def _fail(self, number, error):
        problem = {"name": type(error).__name__, "message": str(error), "stack": failure(error)["stack"]}
        if isinstance(error, CannotCross):
            problem.update(path=error.path, message=error.reason)
        if isinstance(error, TooLarge):
            problem.update(path="")
        if isinstance(error, UnknownName):
            problem.update(names=self.cells.names())
        self.channel.send({"k": "fail", "i": number, "e": problem})

    def ask_unreadable(self, message):
        raise message["error"]

    def ask_bind(self, message):
        self.namespace.update(message["values"])
        self.cells.mark_injected(message["values"])

    def ask_changeable(self, message):
        return [name for name in message["names"] if declarations.is_changeable(self.namespace.get(name))]

    def ask_module(self, message):
        exports = skill_modules.run(message["code"], message["file"])
        found = list(skill_modules.problems(exports, self.namespace))
        if found:
            raise skill_modules.ModuleFailed("; ".join(found))
        for export in exports:
            self.namespace[export.name] = export.value
            self.exports[export.name] = export
        names = [export.name for export in exports]
        self.cells.mark_injected(names)
        return names

    def ask_retrieve(self, message):
        name = message["name"]
        if name not in self.namespace:
            raise UnknownName(name)
        value = self.namespace[name]
        if inspect.isawaitable(value):
            # The results of operations are awaited here, but an awaitable in a variable is the cell's to await.
            raise CannotCross("it was not awaited: write await before it")
        return table_files.AsHandle(value) if message.get("whole") and arrays.is_frame(value) else value

    def ask_names(self, _message):
        return [declarations.entry(name, self.namespace[name]) for name in self.cells.names()]

    def ask_describe(self, message):
        for name in message["names"]:
            if name not in self.namespace:
                raise UnknownName(name)
        about = {name: export.about for name, export in self.exports.items() if self._applies(name, export)}
        return declarations.describe(message["names"], self.namespace, {**about, **message["about"]})

    def _applies(self, name, export):
        """Returns True if an export's description still applies. If it is no variable, the value must be the same."""
        return isinstance(export, skill_modules.karst.Variable) or self.namespace.get(name) is export.value

    def ask_get(self, message):
        return self._member(message["of"], message["path"])

    def ask_set(self, message):
        *path, last = message["path"]
        setattr(self._member(message["of"], path), last, message["value"])

    def ask_call(self, message):
        args, kwargs = message["args"], {}
        if args and isinstance(args[-1], Keywords):
            *args, kwargs = args
        return self._member(message["of"], message["path"])(*args, **kwargs)

    ask_new = ask_call

    def ask_save(self, message):
        table_files.save(self.values.handed_out_object(message["of"]), message["file"])

    def ask_load(self, message):
        return table_files.AsHandle(table_files.load(message["file"]))

    def ask_begin(self, message):
        self.cells.begin(message["x"], message["show"], message["keep"], message["finish"])
        self.channel.recorded_env.begin(message["times"], message["seed"], message["tells"])

    def ask_forget(self, message):
        self.cells.forget(message["names"])

    def ask_snapshot(self, message):
        names = [name for name in self.cells.names() if name not in message["without"]]
        return snapshots.snapshot(self.namespace, names, message["most"], self.digests)

    def ask_digests(self, message):
        for name in message["names"]:
            if name in self.namespace and name not in self.digests:
                self.digests[name] = snapshots.digest(self.namespace[name])

    def ask_restore(self, message):
        values, lost = snapshots.restore(self.namespace, message["data"], self.digests, message["exact"])
        self.cells.take_changes()
        return {"names": self.cells.names(), "values": values, "lost": lost}

    def _member(self, number, path):
        value = self.values.handed_out_object(number)
        for name in path:
            value = getattr(value, name)
        return value
