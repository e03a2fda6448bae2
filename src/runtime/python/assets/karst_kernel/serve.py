"""Answers the host's questions in the main thread: between cells, or while a cell waits for the host."""

import asyncio
import contextvars
import inspect
import signal
import socket
import threading

from . import arrays, frames, keep, modules, show
from .cells import Cells, failure
from .channel import Channel, TooLarge
from .copies import Copies
from .executions import Executions, follow_threads
from .objects import Objects
from .streams import Output
from .values import CannotCross, Keywords, Values
from .world import World


def attach(kernel, path, token):
    """Connects a kernel with its host. The host sends nothing before the kernel's loop runs."""
    loop = asyncio.get_event_loop_policy().get_event_loop()
    channel = connect(kernel.shell, Channel(path, token, loop))
    listen_for_interrupts(kernel, channel.interrupts, loop)
    channel.send({"k": "ready"})


def connect(shell, channel):
    """Gives a channel all that it needs, and announces the kernel."""
    executions = Executions()
    values = channel.values = Values(channel, executions)
    channel.objects = Objects(channel)
    channel.copies = Copies(values, executions, shell.user_ns)
    channel.output = Output(channel)
    channel.world = World(channel, executions)
    channel.serve = Server(shell, channel, values, executions).serve
    follow_threads()
    return channel


def listen_for_interrupts(kernel, interrupts, loop):
    # Jupyter only leaves a note for its loop when a cell that awaits is interrupted; this wakes the loop to read it.
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
        # Of what modules put in: the value, and what their author says of it.
        self.notes = {}
        # Loops in threads of their own, for coroutines that the host calls while the cell's own loop waits.
        self.idle_loops = []

    def serve(self, message):
        if message["k"] == "release":
            for number, count in message["ids"]:
                self.values.release(number, count)
            return
        # What the host does with an object of Python is done for the cell that gave it the object.
        given = self.values.given.get(message.get("of"))
        context = given.context.copy() if given else contextvars.copy_context()
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
        """Lets a coroutine run. The cell's loop cannot run it while the cell waits for the host without `await`."""
        if not self.channel.is_main_waiting():
            return asyncio.ensure_future(result, loop=self.channel.loop)
        if inspect.iscoroutine(result):
            return self._start_apart(result)
        raise RuntimeError(
            "The callback gives a future of the cell's event loop, which stands still while the cell waits for the host: "
            "write `await` before the call that was given the callback."
        )

    def _start_apart(self, coroutine):
        """Lets a coroutine run in a thread with a loop of its own. Two coroutines in one loop could wait for each other:
        each may call the host without `await` as well."""
        try:
            loop = self.idle_loops.pop()
        except IndexError:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="karst callbacks", daemon=True)
            # The thread serves the callbacks of all cells, so it belongs to none.
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
        whole = isinstance(result, frames.Whole)
        coded = self.values.encode_object(result.value) if whole else self.values.encode(result)
        self.channel.objects.release_dropped()
        self.channel.send({"k": "reply", "i": number, "v": coded.json}, coded.buffers, coded.special)

    def _fail(self, number, error):
        told = {"name": type(error).__name__, "message": str(error), "stack": failure(error)["stack"]}
        if isinstance(error, CannotCross):
            told.update(path=error.path, message=error.reason)
        if isinstance(error, TooLarge):
            told.update(path="")
        if isinstance(error, UnknownName):
            told.update(names=self.cells.names())
        self.channel.send({"k": "fail", "i": number, "e": told})

    def ask_unreadable(self, message):
        raise message["error"]

    def ask_bind(self, message):
        self.namespace.update(message["values"])
        self.cells.put(message["values"])

    def ask_changeable(self, message):
        return [name for name in message["names"] if show.is_changeable(self.namespace.get(name))]

    def ask_module(self, message):
        exports = modules.run(message["code"], message["file"])
        found = list(modules.problems(exports, self.namespace))
        if found:
            raise modules.ModuleFailed("; ".join(found))
        for export in exports:
            self.namespace[export.name] = export.value
            self.notes[export.name] = export
        names = [export.name for export in exports]
        self.cells.put(names)
        return names

    def ask_retrieve(self, message):
        name = message["name"]
        if name not in self.namespace:
            raise UnknownName(name)
        value = self.namespace[name]
        if inspect.isawaitable(value):
            # What an operation gives is awaited; what a variable holds is not ours to wait for.
            raise CannotCross("it was not awaited: write await before it")
        return frames.Whole(value) if message.get("whole") and arrays.is_frame(value) else value

    def ask_names(self, _message):
        return [show.entry(name, self.namespace[name]) for name in self.cells.names()]

    def ask_describe(self, message):
        for name in message["names"]:
            if name not in self.namespace:
                raise UnknownName(name)
        about = {name: note.about for name, note in self.notes.items() if self._holds(name, note)}
        wanted = {"about": {**about, **message["about"]}}
        return [show.declaration(name, self.namespace[name], wanted) for name in message["names"]]

    def _holds(self, name, note):
        """What is said of a variable holds whatever it holds; of a function or class, as long as it is that one."""
        return isinstance(note, modules.karst.Variable) or self.namespace.get(name) is note.value

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
        frames.save(self.values.given_object(message["of"]), message["file"])

    def ask_load(self, message):
        return frames.Whole(frames.load(message["file"]))

    def ask_begin(self, message):
        self.cells.begin(message["x"])
        self.channel.world.begin(message["times"], message["seed"], message["tells"])

    def ask_snapshot(self, message):
        names = [name for name in self.cells.names() if name not in message["without"]]
        return keep.snapshot(self.namespace, names, message["most"])

    def ask_restore(self, message):
        values, lost = keep.restore(self.namespace, message["data"])
        self.cells.settle()
        return {"names": self.cells.names(), "values": values, "lost": lost}

    def _member(self, number, path):
        value = self.values.given_object(number)
        for name in path:
            value = getattr(value, name)
        return value
