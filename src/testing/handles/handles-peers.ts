// Cases of the handle suite: functions and instances that cells created, used by the host.
import assert from "node:assert/strict"
import { callable, callMember, defineCase, memberOf } from "./handles-case.ts"

const modelCells = {
  typescript: `class Inner { depth = 3; down(by) { return this.depth + by } }
    class Model { #hidden = 0; factor = 2; inner = new Inner()
      predict(n) { return n * this.factor + this.#hidden }
      itself() { return this } }
    const model = new Model()
    1`,
  python: `class Inner:
    depth = 3
    def down(self, by): return self.depth + by
class Model:
    def __init__(self): self.factor = 2; self.inner = Inner()
    def predict(self, n): return n * self.factor
    def itself(self): return self
model = Model()
1`,
}

export const peerCases = {
  180: defineCase("a function of a cell is retrieved and called from the host", {
    typescript: "const triple = (n) => n * 3\n1",
    python: "triple = lambda n: n * 3\n1",
    async holds({ retrieve }) {
      assert.equal(await callable(await retrieve("triple"))(7), 21)
    },
  }),
  181: defineCase("a retrieved function keeps its closure from call to call", {
    typescript: "let made = 0\nconst countUp = () => ++made\n1",
    python: "made = 0\ndef countUp():\n    global made\n    made += 1\n    return made\n1",
    async holds({ retrieve, value }) {
      const countUp = callable(await retrieve("countUp"))
      assert.deepEqual([await countUp(), await countUp()], [1, 2])
      assert.equal(await value({ typescript: "made", python: "made" }), 2)
    },
  }),
  182: defineCase("an instance of a cell is retrieved: its methods and fields work at the host", {
    ...modelCells,
    async holds({ retrieve }) {
      const model = await retrieve("model")
      assert.equal(await callMember(model, "predict", 4), 8)
      assert.equal(await memberOf(model, "factor"), 2)
      assert.equal(await memberOf(memberOf(model, "inner"), "depth"), 3)
      assert.equal(await callMember(memberOf(model, "inner"), "down", 1), 4)
    },
  }),
  183: defineCase("a field of a cell's instance is set from the host before the next use", {
    ...modelCells,
    async holds({ retrieve, value }) {
      const model = await retrieve("model")
      assert.ok(typeof model === "object" || typeof model === "function")
      Reflect.set(model ?? {}, "factor", 5)
      assert.equal(await callMember(model, "predict", 4), 20)
      assert.equal(await value({ typescript: "model.factor", python: "model.factor" }), 5)
    },
  }),
  184: defineCase("the same object of a cell is the same handle at the host", {
    ...modelCells,
    async holds({ retrieve, run, taken }) {
      const model = await retrieve("model")
      assert.equal(await retrieve("model"), model)
      assert.equal(await callMember(model, "itself"), model)
      await run({ typescript: "await $take(model, [model])", python: "$take(model, [model])" })
      assert.equal(taken[0], model)
      assert.equal(memberOf(taken[1], "0"), model)
    },
  }),
  185: defineCase("an object of a cell that the host returns is the same object", {
    host: () => ({ kept: [] as unknown[] }),
    inject: ({ kept }) => ({ keep: (value: unknown) => void kept.push(value), kept: () => kept[0] }),
    typescript:
      "class Point { x = 1 }\nconst point = new Point()\nawait $keep(point)\n;[(await $kept()) === point, (await $echo(point)) === point]",
    python: "class Point: x = 1\npoint = Point()\n$keep(point)\n[$kept() is point, $echo(point) is point]",
    value: [true, true],
  }),
  186: defineCase("a function of a cell that the host returns is the same function", {
    typescript: "const own = () => 1\n;[(await $echo(own)) === own, (await $echo([own]))[0] === own]",
    python: "own = lambda: 1\n[$echo(own) is own, $echo([own])[0] is own]",
    value: [true, true],
  }),
  187: defineCase("an instance that a cell passes is used while the call is under way", {
    host: () => ({ use: async (model: unknown) => Number(await callMember(model, "predict", 10)) + 1 }),
    typescript: [modelCells.typescript, "await $use(model)"],
    python: [modelCells.python, "$use(model)"],
    value: 21,
  }),
  188: defineCase("functions and instances inside a cell's data are handles in their places", {
    typescript:
      "class Step { run(n) { return n + 1 } }\nconst plan = { steps: [new Step(), new Step()], by: { name: (s) => s + '!' } }\n1",
    python:
      "class Step:\n    def run(self, n): return n + 1\nplan = {'steps': [Step(), Step()], 'by': {'name': lambda s: s + '!'}}\n1",
    async holds({ retrieve }) {
      const plan = await retrieve("plan")
      assert.equal(await callMember(memberOf(memberOf(plan, "steps"), "1"), "run", 4), 5)
      assert.equal(await callMember(memberOf(plan, "by"), "name", "x"), "x!")
    },
  }),
  189: defineCase("an async function and an async method of a cell are awaited", {
    typescript:
      "const slow = async (n) => { await null; return n + 1 }\nclass Job { async run(n) { return n * 2 } }\nconst job = new Job()\n1",
    python:
      "import asyncio\nasync def slow(n):\n    await asyncio.sleep(0)\n    return n + 1\nclass Job:\n    async def run(self, n): return n * 2\njob = Job()\n1",
    async holds({ retrieve }) {
      assert.equal(await callable(await retrieve("slow"))(1), 2)
      assert.equal(await callMember(await retrieve("job"), "run", 4), 8)
    },
  }),
  190: defineCase("an error of a cell's function rejects at the host with its name and message", {
    typescript: "const bad = () => { throw new RangeError('no such row') }\n1",
    python: "def bad(): raise LookupError('no such row')\n1",
    async holds({ retrieve, language }) {
      const name = language === "python" ? "LookupError" : "RangeError"
      const bad = callable(await retrieve("bad"))
      await assert.rejects(async () => bad(), { name, message: "no such row" })
    },
  }),
  191: defineCase("a cell's function gets host objects as handles and host functions as functions", {
    host: () => ({ light: { level: 4, dim: (n: number) => n - 1 }, add: (a: number, b: number) => a + b }),
    typescript: "const work = async (light, add) => add(await light.level, await light.dim(3))\n1",
    python: "def work(light, add): return add(light.level, light.dim(3))\n1",
    async holds({ retrieve, host: { light, add } }) {
      assert.equal(await callable(await retrieve("work"))(light, add), 6)
    },
  }),
  192: defineCase("a class of a cell is retrieved, and instances are made and used from the host", {
    typescript: "class Point { constructor(x) { this.x = x }\n moved(by) { return this.x + by } }\n1",
    python: "class Point:\n    def __init__(self, x): self.x = x\n    def moved(self, by): return self.x + by\n1",
    async holds({ retrieve, language }) {
      const Point = await retrieve("Point")
      assert.ok(typeof Point === "function")
      const point = await (language === "python" ? callable(Point)(3) : Reflect.construct(Point, [3]))
      assert.equal(await callMember(point, "moved", 2), 5)
    },
  }),
  193: defineCase("a handle of a cell's object has no then, and its members throw where they are used as values", {
    ...modelCells,
    async holds({ retrieve }) {
      const model = await retrieve("model")
      assert.equal(memberOf(model, "then"), undefined)
      const factor = memberOf(model, "factor")
      assert.throws(() => Number(factor), /await/)
      assert.throws(() => `${factor}`, /await/)
      await factor
    },
  }),
  194: defineCase("a handle of a cell's object can be injected and is that object again", {
    ...modelCells,
    async holds({ retrieve, runtime, nameOf, value }) {
      const name = nameOf("again")
      await runtime.inject({ [name]: await retrieve("model") })
      assert.equal(await value({ typescript: `${name} === model`, python: `${name} is model` }), true)
    },
  }),
  195: defineCase("handles of cells' objects say that they are gone when the runtime is closed", {
    ownRuntime: true,
    ...modelCells,
    async holds({ retrieve, runtime }) {
      const model = await retrieve("model")
      await runtime.close()
      await assert.rejects(async () => callMember(model, "predict", 1), /gone/)
      await assert.rejects(async () => memberOf(model, "factor"), /gone/)
    },
  }),
  197: defineCase("handles of cells' objects say that they are gone when the process of the cells was killed", {
    ownRuntime: true,
    ...modelCells,
    async holds({ retrieve, run, value }) {
      const model = await retrieve("model")
      const ended = await run({
        typescript:
          "const real = (await import('node:module')).createRequire('/')('process')\nreal.kill(real.pid, 'SIGKILL')\nawait new Promise(() => {})",
        python: "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
      })
      assert.ok(!ended.ok)
      await assert.rejects(async () => callMember(model, "predict", 1), /gone/)
      assert.equal(await value({ typescript: "1 + 1", python: "1 + 1" }), 2)
      await assert.rejects(async () => memberOf(model, "factor"), /gone/)
    },
  }),
  196: defineCase("a cell's object is let go of when the host holds its handle no more", {
    typescript: "class Once { use() {} }\nlet once = new Once()\nconst ref = new WeakRef(once)\n1",
    python: "import gc, weakref\nclass Once: pass\nonce = Once()\nref = weakref.ref(once)\n1",
    async holds({ retrieve, run, value }) {
      await (async () => void (await retrieve("once")))()
      await run({ typescript: "once = undefined", python: "del once" })
      const collect = await collector()
      const peerCollect = {
        typescript:
          "const { setFlagsFromString } = await import('node:v8')\nsetFlagsFromString('--expose-gc')\n;(await import('node:vm')).runInNewContext('gc')()\nawait new Promise((go) => setTimeout(go, 2))\nref.deref() === undefined",
        python: "gc.collect()\nref() is None",
      }
      for (let turn = 0; turn < 25; turn++) {
        collect()
        await new Promise(setImmediate)
        if ((await value(peerCollect)) === true) return
      }
      assert.fail("The object is still held.")
    },
  }),
} as const

export async function collector(): Promise<() => void> {
  const { setFlagsFromString } = await import("node:v8")
  const { runInNewContext } = await import("node:vm")
  setFlagsFromString("--expose-gc")
  const collect: () => void = runInNewContext("gc")
  return collect
}
