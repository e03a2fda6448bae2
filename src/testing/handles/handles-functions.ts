// Cases of the handle suite: host functions that cells pass around. Each passes the call gate, whoever calls it.
import assert from "node:assert/strict"
import { EventEmitter } from "node:events"
import { fn } from "../../runtime/bindings.ts"
import type { CallGate } from "../../runtime/runtime.ts"
import { callable, defineCase } from "./handles-case.ts"

type Callback = (...args: unknown[]) => unknown

export const functionCases = {
  230: defineCase("a function binding stored in a field is called by the host through the gate", {
    ...withWipe(() => ({ light: new Button() })),
    typescript: "$light.handler = $wipe\nawait $light.press(3)",
    value: "wiped 3",
    holds: ({ called, calls }) => {
      assert.deepEqual(called, ["light.press", "wipe"])
      assert.deepEqual([calls.at(-1)?.approve, calls.at(-1)?.args], [true, [3]])
    },
  }),
  231: defineCase("a function binding that the gate refuses does nothing when the host calls it", {
    ...withWipe(() => ({ light: new Button() })),
    gate: refuse("wipe"),
    typescript: "$light.handler = $wipe\nawait $light.press(3)",
    error: /not approved/,
    holds: ({ host: { wiped } }) => assert.deepEqual(wiped, []),
  }),
  232: defineCase("a function binding inside an array, an object or a Map is called through the gate", {
    ...withWipe(() => ({ callAll })),
    typescript: "await $callAll([$wipe, { run: $wipe, deep: [{ run: $wipe }] }, new Map([['k', $wipe]])])",
    python: "$callAll([$wipe, {'run': $wipe, 'deep': [{'run': $wipe}]}, {1: $wipe}])",
    holds({ called, host: { wiped } }) {
      assert.deepEqual(called, ["callAll", "wipe", "wipe", "wipe", "wipe"])
      assert.equal(wiped.length, 4)
    },
  }),
  233: defineCase("an event emitter calls a function binding through the gate", {
    ...withWipe(() => ({ bus: new EventEmitter() })),
    typescript: "await $bus.on('e', $wipe)\nawait $bus.emit('e', 1)",
    holds({ called, host: { wiped } }) {
      assert.deepEqual(called, ["bus.on", "bus.emit", "wipe"])
      assert.deepEqual(wiped, [1])
    },
  }),
  234: defineCase("a function binding arrives as the same function every time", {
    ...withWipe(() => ({})),
    typescript: "await $take($wipe, [$wipe])\nawait $take($wipe)",
    holds({ taken: [first, list, second] }) {
      assert.equal(first, second)
      assert.ok(Array.isArray(list))
      assert.equal(list[0], first)
    },
  }),
  235: defineCase("a function binding that was added as a listener is removed as that listener", {
    ...withWipe(() => ({ bus: new EventEmitter() })),
    typescript:
      "await $bus.on('e', $wipe)\nconst before = await $bus.listenerCount('e')\nawait $bus.off('e', $wipe)\n;[before, await $bus.listenerCount('e')]",
    python:
      "$bus.on('e', $wipe)\nbefore = $bus.listenerCount('e')\n$bus.off('e', $wipe)\n[before, $bus.listenerCount('e')]",
    value: [1, 0],
  }),
  236: defineCase("a function binding that the host returns is the same binding", {
    ...withWipe(() => ({})),
    typescript: "[(await $echo($wipe)) === $wipe, (await $echo([$wipe]))[0] === $wipe]",
    python: "[$echo($wipe) is $wipe, $echo([$wipe])[0] is $wipe]",
    value: [true, true],
  }),
  237: defineCase("a cell that reads a function binding from a field gets the same binding", {
    ...withWipe(() => ({ light: new Button() })),
    typescript: "$light.handler = $wipe\nconst found = await $light.handler\n;[found === $wipe, await found(4)]",
    python: "$light.handler = $wipe\nfound = $light.handler\n[found is $wipe, found(4)]",
    value: [true, "wiped 4"],
    holds: ({ called }) => assert.deepEqual(called, ["wipe"]),
  }),
  238: defineCase("a retrieved function binding is the host's own function", {
    host: () => ({ add: (a: number, b: number) => a + b }),
    typescript: "const alias = $add\n1",
    python: "alias = $add\n1",
    async holds({ retrieve, host: { add } }) {
      assert.equal(await retrieve("add"), add)
    },
  }),
  239: defineCase("a method that a cell read off and passed is called on its object through the gate", {
    host: () => ({ light: new Button(), run: (method: Callback) => method(8) }),
    typescript: "await $run($light.press)",
    value: "pressed 8",
    holds({ called, host: { light } }) {
      assert.deepEqual(called, ["run", "light.press"])
      assert.equal(light.presses, 1)
    },
  }),
  240: defineCase("a method that is passed twice arrives as the same function", {
    host: () => ({ light: new Button() }),
    typescript: "await $take($light.press)\nawait $take($light.press)",
    holds: ({ taken: [first, second] }) => assert.equal(first, second),
  }),
  241: defineCase("a stored function is judged by the gate of the cell that is running when the host calls it", {
    ...withWipe(() => ({ light: new Button() })),
    typescript: "$light.handler = $wipe\n1",
    async holds({ run, host: { wiped } }) {
      const press = { typescript: "await $light.press(1)", python: "$light.press(1)" }
      const refused = await run(press, { callGate: refuse("wipe") })
      assert.ok(!refused.ok)
      assert.deepEqual(wiped, [])
      assert.ok((await run(press, { callGate: (_, next) => next() })).ok)
      assert.deepEqual(wiped, [1])
    },
  }),
  242: defineCase(
    "a stored function that the host calls between cells is judged by the gate of the cell that passed it last",
    {
      ...withWipe(() => ({ light: new Button() })),
      typescript: "1",
      async holds({ run, host: { light, wiped } }) {
        const store = { typescript: "$light.handler = $wipe\n1", python: "$light.handler = $wipe\n1" }
        await run(store, { callGate: (_, next) => next() })
        await light.press(1)
        assert.deepEqual(wiped, [1])
        await run(store, { callGate: refuse("wipe") })
        await assert.rejects(async () => light.press(2), /not approved/)
        assert.deepEqual(wiped, [1])
      },
    },
  ),
  243: defineCase("the input of a function binding is validated when the host calls it", {
    host: () => {
      const paid: number[] = []
      return { paid, pay: (n: number) => void paid.push(n), run: (call: Callback) => call("much") }
    },
    inject: ({ pay, run }) => ({ pay: fn(pay, { input: { type: "number" } }), run }),
    typescript: "await $run($pay)",
    error: /Invalid input of pay/,
    holds: ({ host: { paid } }) => assert.deepEqual(paid, []),
  }),
  244: defineCase("functions inside arrays, Maps and results of the host are called by cells", {
    host: () => ({
      handlers: [(n: number) => n + 1],
      table: new Map([["double", (n: number) => n * 2]]),
      make: () => (n: number) => n - 1,
    }),
    typescript: "const made = await $make()\n;[await $handlers[0](1), await $table.get('double')(4), await made(9)]",
    python: "made = $make()\n[$handlers[0](1), $table['double'](4), made(9)]",
    value: [2, 8, 8],
  }),
  245: defineCase("members of a host function are read, and the reserved ones stay those of a function", {
    host: () => ({ act: Object.assign((n: number) => n, { version: 3, info: { author: "Ada" } }) }),
    typescript: "[await $act.version, await $act.info.author, await $act(5)]",
    python: "[$act.version, $act.info['author'], $act(5)]",
    value: [3, "Ada", 5],
  }),
  246: defineCase("one function under two names is two bindings, each with its own rules", {
    host: () => {
      const act = () => "done"
      return { act }
    },
    inject: ({ act }) => ({ free: fn(act), asked: fn(act, { approve: true }) }),
    typescript: "[await $free(), await $asked()]",
    value: ["done", "done"],
    holds({ calls }) {
      assert.deepEqual(
        calls.map(({ binding, approve }) => [binding, approve]),
        [
          ["free", false],
          ["asked", true],
        ],
      )
    },
  }),
  247: defineCase(
    "a cell's function that wraps a function binding is called by the host, and the binding passes the gate",
    {
      ...withWipe(() => ({ run: async (call: Callback) => await call(6) })),
      typescript: "await $run(async (n) => await $wipe(n + 1))",
      python: "$run(lambda n: $wipe(n + 1))",
      value: "wiped 7",
      holds: ({ called }) => assert.deepEqual(called, ["run", "wipe"]),
    },
  ),
  248: defineCase("host functions run beside each other in asyncio.gather, wait_for, tasks and by async_", {
    host: () => ({ add: (a: number, b = 1) => a + b, desk: { lamps: 2, count: (n: number) => n * 2 } }),
    python: [
      "import asyncio\nfrom asyncio import gather",
      `async def own(n): return n * 10
async def grouped():
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task($add(3)), group.create_task(own(2))]
    return [task.result() for task in tasks]
[await asyncio.gather($add(1), $add(2, b=5), own(1)),
 await gather(*[$desk.count(n) for n in range(3)]),
 await asyncio.wait_for($add(1), 5),
 await asyncio.create_task($add(2)),
 await asyncio.gather($add.async_(1), $desk.count.async_(4)),
 [await done for done in asyncio.as_completed([$add(9)])],
 await grouped()]`,
    ],
    value: [[2, 7, 10], [0, 2, 4], 2, 3, [2, 8], [10], [4, 20]],
    notApplicable: { typescript: "a call in TypeScript is a promise" },
    holds: async ({ run, host: { desk } }) => {
      const failed = await run({
        python: "results = [$add(1), $add(2)]\nawait asyncio.gather(*results)",
        typescript: "",
      })
      assert.ok(!failed.ok)
      assert.match(failed.error.message, /host function.*asyncio\.to_thread\(f, x\)/)
      assert.equal(desk.lamps, 2)
    },
  }),
} as const

class Button {
  handler: Callback | undefined = undefined
  presses = 0
  press(n: number): unknown {
    this.presses++
    return this.handler ? this.handler(n) : `pressed ${n}`
  }
}

/** Adds a binding `wipe` that needs approval to other objects. */
function withWipe<H extends Record<string, unknown>>(others: () => H) {
  return {
    host: () => {
      const wiped: unknown[] = []
      const wipe = (n: unknown) => {
        wiped.push(n)
        return `wiped ${n}`
      }
      return { ...others(), wiped, wipe }
    },
    inject: ({ wiped: _, wipe, ...rest }: H & { wiped: unknown[]; wipe: (n: unknown) => string }) => ({
      ...rest,
      wipe: fn(wipe, { approve: true }),
    }),
  }
}

function refuse(name: string): CallGate {
  return (call, next) => (call.binding.startsWith(name) ? Promise.reject(new Error("not approved")) : next())
}

/** Calls each function in a value, one after the other. */
async function callAll(value: unknown): Promise<void> {
  if (typeof value === "function") await callable(value)(1)
  else if (value instanceof Map) for (const member of value.values()) await callAll(member)
  else if (typeof value === "object" && value !== null) for (const member of Object.values(value)) await callAll(member)
}
