"""The kernel's side of the protocol, by itself: `python3 test_kernel.py [Class]`."""

import _thread
import asyncio
import datetime
import gc
import math
import random
import socket
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from fake_host import CLASS, FUNCTION, POINT, FakeHost, Reply

from karst_kernel.objects import HostClass, HostFunction, HostMethod, HostObject

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None


class HostCase(unittest.TestCase):
    def host(self, answer=lambda _message, _buffers: None):
        host = FakeHost(answer)
        self.addCleanup(host.close)
        return host

    def echo(self):
        """A host that answers a call with its first argument, as it came."""
        return self.host(lambda message, buffers: Reply(message["v"][0][0], buffers, message["special"]))

    def fields(self, **values):
        """A host whose objects have these fields: JSON, or a Reply."""
        return self.host(lambda message, _buffers: values.get(message["p"][-1]) if message["p"] else None)

    def run_cell(self, host, code, execution="cell-1", **names):
        report = host.cell(code, execution, **names)
        self.assertNotIn("error", report, report.get("error"))
        return report


class Values(HostCase):
    def round_trip(self, host, value):
        found = []
        report = host.cell(lambda: found.append(host.object(2, FUNCTION)(value)))
        self.assertNotIn("error", report, report.get("error"))
        return found[0]

    def test_random_values_come_back_as_they_were(self):
        host = self.echo()
        chance = random.Random(7)
        for _ in range(150):
            value = [random_value(chance) for _ in range(4)]
            self.assertTrue(same(self.round_trip(host, value), value), value)

    def test_integers_of_64_bits_cross_as_numbers_where_those_are_exact(self):
        if numpy is None:
            self.skipTest("numpy is missing")
        host = self.echo()
        chance = random.Random(11)
        for _ in range(60):
            kind = chance.choice(["int64", "uint64"])
            low = 0 if kind == "uint64" else -(2 ** chance.randrange(1, 64))
            high = 2 ** chance.randrange(1, 64)
            array = numpy.array([chance.randrange(low, high) for _ in range(chance.randrange(5))], dtype=kind)
            safe = all(abs(int(each)) < 2**53 for each in array)
            back = self.round_trip(host, array)
            [sent] = host.operations()[-1]["v"][0]
            self.assertEqual(sent["t"], "int" if safe else kind)
            self.assertEqual(str(back.dtype), "int64" if safe else kind)
            self.assertTrue(numpy.array_equal(back, array), array)

    def test_arrays_of_other_types_keep_their_type(self):
        if numpy is None:
            self.skipTest("numpy is missing")
        host = self.echo()
        for kind in ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"]:
            array = numpy.array([1, 2, 3], dtype=kind)
            self.assertEqual(str(self.round_trip(host, array).dtype), kind)
            self.assertEqual(host.operations()[-1]["v"][0][0]["t"], kind)

    def test_columns_and_indexes_follow_the_rule_of_arrays(self):
        if pandas is None:
            self.skipTest("pandas is missing")
        host = self.echo()
        for value in [pandas.Series([1, 2, 3]), pandas.Index([1, 2, 3]), numpy.arange(6).reshape(2, 3)[0]]:
            self.round_trip(host, value)
            self.assertEqual(host.operations()[-1]["v"][0][0]["t"], "int")
        self.round_trip(host, pandas.Series([1, 2**60]))
        self.assertEqual(host.operations()[-1]["v"][0][0]["t"], "int64")

    def test_objects_functions_and_methods_of_the_host_go_back_as_themselves(self):
        host = self.host()
        account, wipe = host.object(5), host.object(6, FUNCTION)
        self.run_cell(host, lambda: wipe(account, wipe, account.deposit, [account.deposit]))
        handle, method = {"$": "h", "id": 5}, {"$": "hm", "of": {"$": "h", "id": 5}, "name": "deposit"}
        self.assertEqual(host.operations("call")[0]["v"][0], [handle, {"$": "h", "id": 6}, method, [method]])

    def test_a_shape_is_learned_once_and_the_same_object_is_the_same(self):
        again = {"$": "h", "id": 9, "s": 4}
        shape = {**POINT, "n": 4, "name": "Order"}
        replies = iter([Reply(again, special=True, shapes=[shape]), Reply([again, again], special=True)])
        host = self.host(lambda _message, _buffers: next(replies))
        wipe = host.object(6, FUNCTION)
        found = []
        self.run_cell(host, lambda: found.extend([wipe(), wipe()]))
        first, [second, third] = found
        self.assertTrue(first is second is third)
        self.assertEqual(repr(first), "<host Order>")

    def test_shapes_of_a_message_that_cannot_be_read_are_known(self):
        replies = iter(
            [
                Reply(text='{"$":"a","t":"nonsense","i":0}', buffers=[b"1"], shapes=[{**POINT, "n": 4}]),
                Reply({"$": "h", "id": 9, "s": 4}, special=True),
            ]
        )
        host = self.host(lambda _message, _buffers: next(replies))
        wipe = host.object(6, FUNCTION)
        self.assertIn("error", host.cell(lambda: wipe()))
        self.run_cell(host, lambda: self.assertIsInstance(wipe(), HostObject))

    def test_dropped_objects_are_released_as_often_as_they_came(self):
        handle = {"$": "h", "id": 9, "s": 1}
        host = self.host(lambda _message, _buffers: Reply([handle, handle], special=True, shapes=[POINT]))
        wipe = host.object(6, FUNCTION)
        self.run_cell(host, lambda: [wipe(), wipe()] and None)
        gc.collect()
        self.run_cell(host, "")
        released = [each["ids"] for each in host.messages if each["k"] == "release"]
        self.assertEqual(sum(count for ids in released for number, count in ids if number == 9), 4)

    def test_many_dropped_objects_are_released_before_the_cell_ends(self):
        numbers = iter(range(100, 5000))
        host = self.host(lambda *_: Reply({"$": "h", "id": next(numbers), "s": 1}, special=True, shapes=[POINT]))
        wipe = host.object(6, FUNCTION)
        self.run_cell(host, lambda: [wipe() and None for _ in range(2000)] and None)
        kinds = [each["k"] for each in host.messages]
        self.assertGreaterEqual(kinds[: kinds.index("cell")].count("release"), 3)


class Members(HostCase):
    def test_an_operation_names_its_object_its_path_and_its_cell(self):
        host = self.fields(hist=[1])
        account, wipe, account_class = host.object(), host.object(2, FUNCTION), host.object(3, CLASS)

        def code():
            account.hist
            account.hist = [2]
            account.deposit(1, by=2)
            wipe(3)
            account_class(4)
            isinstance(account, account_class)

        self.run_cell(host, code, "cell-9")
        shown = [(each["op"], each["t"], each["p"], each.get("v")) for each in host.operations()]
        self.assertEqual(
            shown,
            [
                ("get", 1, ["hist"], None),
                ("set", 1, ["hist"], [[2]]),
                ("call", 1, ["deposit"], [[1], {"by": 2}]),
                ("call", 2, [], [[3], {}]),
                ("new", 3, [], [[4], {}]),
                ("instance", 3, [], [{"$": "h", "id": 1}]),
            ],
        )
        self.assertEqual({each["x"] for each in host.operations()}, {"cell-9"})

    def test_a_field_that_holds_a_method_is_a_method(self):
        method = {"$": "hm", "of": {"$": "h", "id": 1, "s": 1}, "name": "run"}
        host = self.fields(run=Reply(method, special=True, shapes=[POINT]))
        account = host.object()
        self.run_cell(host, lambda: self.assertEqual(account.run, HostMethod(account, "run")))
        self.run_cell(host, lambda: account.run(5))
        self.assertEqual(host.operations("call")[0]["p"], ["run"])

    def test_what_python_cannot_do_says_how_it_is_done(self):
        host = self.host()
        account = host.object()

        def code():
            for attempt in [
                lambda: account[0],
                lambda: len(account),
                lambda: account + 1,
                lambda: "a" + account,
                lambda: 2 * account,
                lambda: account < account,
                lambda: -account,
                lambda: list(account),
                lambda: 1 in account,
                lambda: account.__setitem__(0, 1),
            ]:
                with self.assertRaisesRegex(TypeError, r"the host's Account .*Read a field or call a method: hist, deposit\(\)"):
                    attempt()
            with self.assertRaisesRegex(TypeError, "with statement"):
                with account:
                    pass
            self.assertTrue(account)
            self.assertEqual(account, account)

        self.run_cell(host, code)
        self.assertEqual(host.operations(), [])

    def test_an_object_is_not_copied_and_not_pickled(self):
        import copy
        import pickle

        account = self.host().object()
        self.assertIs(copy.copy(account), account)
        self.assertIs(copy.deepcopy([account])[0], account)
        with self.assertRaisesRegex(TypeError, "lives on the host"):
            pickle.dumps(account)

    def test_disposable_objects_are_disposed_of_by_with(self):
        host = self.host()
        file = host.object(4, {**POINT, "n": 4, "disposable": True})
        self.run_cell(host, "with file:\n    file.deposit()", file=file)
        self.assertEqual([each["op"] for each in host.operations()], ["call", "dispose"])

    def test_errors_of_the_host_keep_their_names(self):
        failures = iter(["RangeError", "NoSuchTask", "AttributeError", "UnicodeDecodeError"])
        host = self.host(lambda *_: Reply(fail={"name": next(failures), "message": "why", "thrown": 3}))
        wipe = host.object(6, FUNCTION)
        for expected in [ValueError, Exception, AttributeError, Exception]:
            report = host.cell(lambda: wipe())
            self.assertRegex(report["error"]["message"], r"^\w+: why$")
            self.assertEqual(report["error"]["thrown"], 3)
        with self.assertRaises(RuntimeError):
            wipe()
        self.assertTrue(expected)


class CopiesOfFields(HostCase):
    HINT = "acc.{0} is a copy, and the cell changed only the copy. Write it back: acc.{0} = <the changed value>"

    def hints(self, code, **fields):
        host = self.fields(**fields)
        report = self.run_cell(host, code, acc=host.object())
        return report.get("hints", [])

    def test_a_changed_copy_is_named(self):
        for name, code in {
            "hist": "acc.hist.append(2)",
            "nested": "acc.nested['a']['b'] = 5",
            "kept": "kept = acc.kept\nkept.pop()",
            "swapped": "acc.swapped[0] = True",
            "odd": "acc.odd['self'] = acc.odd",
        }.items():
            fields = {"hist": [1], "nested": {"a": {"b": 1}}, "kept": [1], "swapped": [1], "odd": {}}
            self.assertEqual(self.hints(code, **fields), [self.HINT.format(name)], code)

    def test_a_copy_that_was_only_read_is_not_named(self):
        special = Reply(
            [{"$": "f", "v": "nan"}, {"$": "s", "e": list("abcdefgh")}, {"$": "d", "v": 5}, {"$": "h", "id": 9, "s": 1}],
            special=True,
            shapes=[POINT],
        )
        self.assertEqual(self.hints("x = acc.hist\nlen(x), sorted(map(str, x)), x[0]", hist=[3, 1.5, {"a": None}]), [])
        self.assertEqual(self.hints("x = acc.hist\nx[1] = set(sorted(x[1], reverse=True))", hist=special), [])
        self.assertEqual(self.hints("x = acc.hist\nx.append(1)\nx.pop()", hist=[1]), [])

    def test_special_values_are_compared_by_what_they_hold(self):
        host_object = {"$": "h", "id": 9, "s": 1}
        for value, code in [
            ({"$": "s", "e": [1, 2]}, "acc.hist.add(3)"),
            ({"$": "m", "e": [[1, "a"]]}, "acc.hist[1] = 'b'"),
            ([{"$": "f", "v": "nan"}], "acc.hist[0] = 1.0"),
            ([host_object], "acc.hist.pop()"),
            ([host_object], "acc.hist[0] = acc"),
            ([host_object], "acc.hist[0] = lambda: 1"),
        ]:
            found = self.hints(code, hist=Reply(value, special=True, shapes=[POINT]))
            self.assertEqual(found, [self.HINT.format("hist")], code)

    def test_arrays_and_tables_are_compared(self):
        if pandas is None:
            self.skipTest("pandas is missing")
        array = Reply({"$": "a", "t": "float64", "i": 0}, [numpy.array([1.0, math.nan]).tobytes()], True)
        column = {"name": "x", "kind": "float64", "i": 0}
        table = Reply({"$": "t", "n": 2, "c": [column]}, [numpy.array([1.0, 2.0]).tobytes()], True)
        self.assertEqual(self.hints("acc.hist.sum()", hist=array), [])
        self.assertEqual(self.hints("acc.hist[0] = 5", hist=array), [self.HINT.format("hist")])
        self.assertEqual(self.hints("acc.hist.x.sum()", hist=table), [])
        self.assertEqual(self.hints("acc.hist['y'] = 1", hist=table), [self.HINT.format("hist")])

    def test_writing_back_says_that_it_is_the_copy_and_later_changes_count(self):
        host = self.fields(hist=[1])
        account = host.object()
        code = "h = acc.hist\nh.append(2)\nacc.hist = h\nacc.hist += [3]\nacc.hist = [4]\nacc.other = h"
        self.assertNotIn("hints", self.run_cell(host, code, acc=account))
        shown = [(each["p"], each["v"], each.get("back", False)) for each in host.operations("set")]
        self.assertEqual(
            shown,
            [
                (["hist"], [[1, 2]], True),
                (["hist"], [[1, 3]], True),
                (["hist"], [[4]], False),
                (["other"], [[1, 2]], False),
            ],
        )
        report = self.run_cell(host, "h = acc.hist\nh.append(2)\nacc.hist = h\nh.append(3)", acc=account)
        self.assertEqual(report["hints"], [self.HINT.format("hist")])

    def test_a_copy_that_is_given_to_a_call_is_not_named(self):
        code = "h = acc.hist\nh.append(2)\nacc.deposit({0})"
        self.assertEqual(self.hints(code.format("h"), hist=[1]), [])
        self.assertEqual(self.hints(code.format("items=h"), hist=[1]), [])
        self.assertEqual(self.hints(code.format("[h]"), hist=[1]), [self.HINT.format("hist")])

    def test_a_copy_belongs_to_the_cell_that_read_it(self):
        host = self.fields(hist=[1])
        self.assertNotIn("hints", self.run_cell(host, "h = acc.hist", acc=host.object()))
        self.assertNotIn("hints", self.run_cell(host, "h.append(2)"))

    def test_a_large_copy_is_not_checked_and_the_report_says_so(self):
        large = ["x" * 1000] * 1100
        [hint] = self.hints("acc.hist.append(1)", hist=large)
        self.assertRegex(hint, r"acc\.hist is a copy, which was not checked for changes \(it has 1\.1 MB\)")
        self.assertEqual(self.hints("h = acc.hist\nh.append(1)\nacc.hist = h", hist=large), [])

    def test_copies_without_number_are_read_in_a_loop(self):
        code = "for _ in range(3000): len(acc.hist)\n{0}"
        self.assertEqual(self.hints(code.format(""), hist=[1]), [])
        self.assertEqual(self.hints(code.format("acc.hist.append(2)"), hist=[1]), [self.HINT.format("hist")])
        code = "kept = [acc.hist for _ in range(3000)]\nkept[0].append(2)\nkept[-1].append(2)"
        first, second = self.hints(code, hist=[1])
        self.assertRegex(first, "not checked for changes")
        self.assertEqual(second, self.HINT.format("hist"))

    def test_a_part_that_is_held_keeps_its_copy_under_watch(self):
        code = "part = acc.hist[0]\nfor _ in range(2500): acc.other\npart.append(2)"
        self.assertEqual(self.hints(code, hist=[[1]], other=[1]), [self.HINT.format("hist")])

    def test_objects_reached_by_fields_are_named_by_their_path(self):
        def answer(message, _buffers):
            if message["p"] == ["owner"]:
                return Reply({"$": "h", "id": 2, "s": 1, "b": "acc.owner"}, special=True, shapes=[POINT])
            return [1]

        host = self.host(answer)
        report = self.run_cell(host, "acc.owner.hist.append(2)", acc=host.object())
        self.assertRegex(report["hints"][0], r"^acc\.owner\.hist is a copy")


class CellsOfCalls(HostCase):
    """Every operation carries the id of the cell whose code makes it."""

    def ids(self, host):
        return [each["x"] for each in host.operations()]

    def test_threads_carry_the_id_of_the_cell_that_started_them(self):
        host = self.host()
        wipe = host.object(6, FUNCTION)
        go = threading.Event()
        pool = ThreadPoolExecutor(1)
        self.addCleanup(pool.shutdown)
        started, done = [], []

        def work():
            go.wait(20)
            wipe()
            done.append(1)

        def first():
            started.append(threading.Thread(target=work))
            started.append(threading.Timer(0.001, work))
            for each in started:
                each.start()
            _thread.start_new_thread(work, ())
            started.append(pool.submit(work))

        self.run_cell(host, first, "cell-1")
        self.run_cell(host, go.set, "cell-2")
        deadline = time.monotonic() + 20
        while len(done) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(self.ids(host), ["cell-1"] * 4)
        # Cell 1 started the thread of the pool; each job belongs to the cell that submits it.
        self.run_cell(host, lambda: pool.submit(wipe).result(20) and None, "cell-3")
        self.run_cell(host, lambda: list(pool.map(lambda _: wipe(), [1, 2])) and None, "cell-4")
        self.assertEqual(self.ids(host)[4:], ["cell-3", "cell-4", "cell-4"])

    def test_tasks_carry_the_id_of_the_cell_that_made_them(self):
        host = self.host()
        wipe = host.object(6, FUNCTION)
        go, tasks = asyncio.Event(), []

        async def later():
            await go.wait()
            wipe()
            await asyncio.to_thread(wipe)
            await wipe.async_()

        async def first():
            tasks.append(asyncio.ensure_future(later()))
            await asyncio.sleep(0)

        async def second():
            wipe()
            go.set()

        self.assertNotIn("error", host.async_cell(first, "cell-1"))
        self.assertNotIn("error", host.async_cell(second, "cell-2"))
        host.loop.run_until_complete(asyncio.wait_for(tasks[0], 20))
        self.assertEqual(self.ids(host), ["cell-2", "cell-1", "cell-1", "cell-1"])

    def test_callbacks_of_a_loop_carry_the_id_of_the_thread_that_left_them(self):
        host = self.host()
        wipe = host.object(6, FUNCTION)
        done = asyncio.Event()

        def leave():
            host.loop.call_soon_threadsafe(lambda: (wipe(), done.set()))

        self.run_cell(host, lambda: threading.Thread(target=leave).start(), "cell-1")
        host.loop.run_until_complete(asyncio.wait_for(done.wait(), 20))
        self.assertEqual(self.ids(host), ["cell-1"])

    def test_callbacks_given_to_the_host_run_for_the_cell_that_gave_them_last(self):
        host = self.host()
        wipe = host.object(6, FUNCTION)
        callback = lambda: wipe()  # noqa: E731
        self.run_cell(host, lambda: wipe(callback), "cell-1")
        number = host.operations()[-1]["v"][0][0]["id"]
        call = dict(of=number, path=[], args=[])
        self.assertEqual(host.wait(host.ask("call", **call))["k"], "reply")
        self.run_cell(host, lambda: host.wait(host.ask("call", **call)) and None, "cell-2")
        self.assertEqual(self.ids(host), ["cell-1", "cell-1", "cell-1"])
        self.run_cell(host, lambda: wipe(callback), "cell-3")
        self.assertEqual(host.wait(host.ask("call", **call))["k"], "reply")
        self.assertEqual(self.ids(host)[3:], ["cell-3", "cell-3"])

    def test_async_callbacks_and_retrieved_functions_belong_to_a_cell_too(self):
        host = self.host()
        wipe = host.object(6, FUNCTION)

        async def slowly():
            await asyncio.sleep(0.001)
            return await wipe.async_()

        self.run_cell(host, "", "cell-1", slowly=slowly, wipe=wipe)
        self.run_cell(host, "", "cell-2")
        handle = host.wait(host.ask("retrieve", name="slowly"))["v"]
        self.assertEqual(handle["$"], "p")
        answer = host.wait(host.ask("call", of=handle["id"], path=[], args=[]))
        self.assertEqual(answer["k"], "reply", answer)
        self.assertEqual(self.ids(host), ["cell-2"])

    def test_an_operation_that_no_cell_makes_is_refused(self):
        host = self.host()
        wipe, account = host.object(6, FUNCTION), host.object()
        with self.assertRaisesRegex(RuntimeError, "wipe: the host takes operations of cells only"):
            wipe()
        self.run_cell(host, "", "cell-1")
        with self.assertRaisesRegex(RuntimeError, "Account.hist: the host takes operations of cells only"):
            account.hist
        failures = []
        thread = threading.Thread(target=lambda: failures.append(host_error(wipe)))
        thread.start()
        thread.join(20)
        self.assertIsInstance(failures[0], RuntimeError)
        self.assertIn("deposit", dir(account))
        self.assertEqual(host.operations(), [])

    def test_a_cell_within_a_cell_is_part_of_it(self):
        host = self.host()
        wipe = host.object(6, FUNCTION)

        def outer():
            from types import SimpleNamespace

            host.trigger("pre_run_cell", SimpleNamespace(raw_cell="1"))
            host.trigger("post_run_cell", None)
            wipe()

        self.run_cell(host, outer, "cell-1")
        self.assertEqual(self.ids(host), ["cell-1"])
        self.assertEqual([each["x"] for each in host.messages if each["k"] == "cell"], ["cell-1"])


class Traffic(HostCase):
    def test_answers_are_read_while_requests_are_written(self):
        # The host answers each request before it reads the next one, so it does not read while its answers are unread.
        host = self.echo()
        wipe = host.object(6, FUNCTION)
        large = "x" * 2_000_000

        async def flood():
            return len(await asyncio.gather(*[wipe.async_(large) for _ in range(8)]))

        report = host.async_cell(flood)
        self.assertEqual(report.get("v"), 8, report)

    def test_threads_write_and_read_beside_each_other(self):
        host = self.echo()
        wipe = host.object(6, FUNCTION)
        large = "x" * 1_500_000

        def flood():
            with ThreadPoolExecutor(4) as pool:
                jobs = [pool.submit(wipe, large) for _ in range(12)]
                return sum(len(job.result(60)) for job in jobs) + len(wipe(large))

        self.assertEqual(host.cell(flood).get("v"), 13 * len(large))

    def test_questions_that_come_while_a_request_is_written_are_served(self):
        answers = []

        def answer(message, _buffers):
            answers.append(host.ask("names"))
            return "y" * 2_000_000

        host = self.host(answer)
        wipe = host.object(6, FUNCTION)

        async def flood():
            await asyncio.gather(*[wipe.async_("x" * 2_000_000) for _ in range(4)])

        self.assertNotIn("error", host.async_cell(flood))
        for each in answers:
            self.assertEqual(host.wait(each)["k"], "reply")

    def test_a_callback_that_the_host_does_not_wait_for_runs_before_its_call_returns(self):
        answers, calls = [], []

        def answer(message, _buffers):
            [callback] = message["v"][0]
            answers.append(host.ask("call", of=callback["id"], path=[], args=[1]))

        host = self.host(answer)
        wipe = host.object(6, FUNCTION)

        def code():
            wipe(calls.append)
            self.assertEqual(calls, [1])
            wipe(lambda x: 1 / 0)

        self.run_cell(host, code)
        self.assertEqual(host.wait(answers[0])["k"], "reply")
        self.assertEqual(host.wait(answers[1])["e"]["name"], "ZeroDivisionError")

    def test_a_finaliser_that_runs_in_the_middle_of_a_message_is_refused_and_its_frame_comes_after(self):
        host = self.echo()
        wipe = host.object(6, FUNCTION)
        real, found = host.channel._read_until_writable, []

        def interrupted():
            if not found:
                found.append(host_error(wipe))
                host.channel.send({"k": "out", "s": "stdout", "t": "late"})
            real()

        host.channel._read_until_writable = interrupted
        # The send buffer is so small that the writer has to wait for the reader.
        host.channel.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        self.assertEqual(host.cell(lambda: len(wipe("x" * 8_000_000)))["v"], 8_000_000)
        self.assertRegex(str(found[0]), "finaliser that interrupts another call")
        self.assertEqual([each["t"] for each in host.messages if each["k"] == "out"], ["late"])


def host_error(function):
    try:
        function()
    except Exception as error:
        return error


def random_value(chance, depth=0):
    makers = [
        lambda: None,
        lambda: chance.random() < 0.5,
        lambda: chance.randrange(-(10**6), 10**6),
        lambda: chance.randrange(-(2**70), 2**70),
        lambda: chance.choice([0.5, -0.0, 1e300, 1e-7, math.nan, math.inf, -math.inf, 2.0**60]),
        lambda: "".join(chance.choice('aé$"\\\n\u2028😀') for _ in range(chance.randrange(6))),
        lambda: bytes(chance.randrange(256) for _ in range(chance.randrange(6))),
        lambda: datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
        + datetime.timedelta(milliseconds=chance.randrange(10**12)),
        lambda: {chance.choice([1, "a", "b", 2.5, None]) for _ in range(3)},
    ]
    if depth < 4:
        makers += [
            lambda: [random_value(chance, depth + 1) for _ in range(chance.randrange(4))],
            lambda: {chance.choice("$abc"): random_value(chance, depth + 1) for _ in range(chance.randrange(4))},
            lambda: {chance.choice([1, 2.5, None, True, "k"]): random_value(chance, depth + 1) for _ in range(3)},
        ]
    return chance.choice(makers)()


def same(found, expected):
    if type(found) is not type(expected):
        return False
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, dict):
        return list(map(repr, found)) == list(map(repr, expected)) and all(same(found[key], expected[key]) for key in expected)
    if isinstance(expected, float):
        return repr(found) == repr(expected)
    return found == expected


if __name__ == "__main__":
    unittest.main()
