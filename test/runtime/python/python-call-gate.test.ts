// test lane: runtimes
import assert from "node:assert/strict"
import { EventEmitter } from "node:events"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { fn, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import type { CallGate, RuntimeCall } from "../../../src/runtime/runtime.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { requires } from "../../system.ts"
import { cellsOf, sharedRuntime } from "./shared-kernel.ts"

class Light {
  x: unknown = undefined
  lit: string[] = []
  wipe(mode = "all") {
    this.lit.push(mode)
    return mode
  }
  use(method: (mode: string) => unknown) {
    return method("used")
  }
  then: unknown = undefined
}

class Lamp {
  wiped = 0
  wipe() {
    return ++this.wiped
  }
}

/** A call gate that refuses calls that need approval, and records all calls. */
function refusing(): { callGate: CallGate; asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async callGate({ binding, method, approve }: RuntimeCall, next) {
      asked.push(method === undefined ? binding : `${binding}.${method}`)
      if (approve) throw new Error("not approved")
      return next()
    },
  }
}

describe("the gate of a pythonRuntime", { skip: requires("python") }, () => {
  const wiped: unknown[] = []
  const light = new Light()
  const plain = new Light()
  const lamp = new Lamp()
  const bus = new EventEmitter()
  const runtime = sharedRuntime({
    wipe: fn((mode: string) => void wiped.push(mode), { approve: true, input: { type: "string" } }),
    bus,
    plain,
    light: variable(light, { guard: { wipe: { approve: true } } }),
    mirrored: variable(new Proxy(lamp, {}), { guard: { wipe: { approve: true } } }),
    nested: { light },
    call: (method: (mode: string) => unknown) => method("called"),
    construct: (method: new (mode: string) => unknown) => new method("made"),
    hold: (value: unknown) => void held.push(value),
  })
  const held: unknown[] = []
  const refused = async (code: string) => {
    const { callGate, asked } = refusing()
    const { error } = await runtime.failed(code, { callGate })
    assert.match(error.message, /not approved/, code)
    assert.deepEqual([wiped, light.lit, lamp.wiped], [[], [], 0], code)
    return asked
  }

  test("judges a guarded function that a cell stored in an object and calls there", async () => {
    assert.deepEqual(await refused("plain.x = wipe\nplain.x('a')"), ["wipe"])
    await runtime.ran("plain.x = wipe\nassert plain.x is wipe")
    assert.deepEqual(await refused("f = plain.x\nf('a')"), ["wipe"])
    plain.x = undefined
  })

  test("judges a guarded function that a cell passed to the host, whoever calls it and when", async () => {
    const asked = await refused("call(wipe)")
    assert.deepEqual(asked, ["call", "wipe"])
    const { callGate } = refusing()
    await runtime.ran("bus.on('e', wipe)", { callGate })
    const { error } = await runtime.failed("bus.emit('e', 'x')", { callGate })
    assert.match(error.message, /not approved/)
    assert.deepEqual(wiped, [])
    bus.removeAllListeners()
  })

  test("applies the schema of a function that the host calls for a cell", async () => {
    await runtime.ran("hold(wipe)")
    const passed = held.pop() as (value: unknown) => Promise<unknown>
    await assert.rejects(async () => passed(5), /Invalid input of wipe/)
    await runtime.ran("hold(wipe)\nhold(wipe)")
    assert.equal(held.pop(), held.pop())
    assert.equal(held.length, 0)
  })

  test("keeps the guard of a method that was read off, renamed, stored, passed, or reached by another way", async () => {
    for (const code of [
      "light.wipe('a')",
      "w = light.wipe\nw('a')",
      "call(light.wipe)",
      "plain.x = light.wipe\nplain.x('a')",
      "plain.use(light.wipe)",
      "nested['light'].wipe('a')",
      "mirrored.wipe('a')",
      "w = mirrored.wipe\nw('a')",
      // Our kernel never sends this operation.
      "light._karst_channel.operate('new', light, ['wipe'], [['a'], {}])",
    ]) {
      assert.ok(
        (await refused(code)).some((name) => /wipe/.test(name)),
        code,
      )
      plain.x = undefined
    }
    assert.match((await runtime.failed("construct(light.wipe)")).error.message, /not a constructor/)
    assert.deepEqual(light.lit, [])
    await runtime.ran("plain.wipe('b')", { callGate: refusing().callGate })
    assert.deepEqual(plain.lit.splice(0), ["b"])
  })

  test("keeps the guard of a method whose function the host itself gave out", async () => {
    await runtime.inject({ expose: () => light.wipe })
    for (const code of ["expose()('a')", "call(expose())", "plain.x = expose()\nplain.x('a')", "plain.use(expose())"]) {
      await refused(code)
      plain.x = undefined
    }
    await runtime.ran("hold(expose())\nhold(expose())")
    assert.equal(held.pop(), held.pop())
    plain.x = undefined
  })

  test("is passed by keyword arguments of functions and methods that a cell stored", async () => {
    const { callGate } = refusing()
    await runtime.ran("plain.x = plain.wipe\nplain.x(mode='m')\nplain.x = None", { callGate })
    assert.deepEqual(plain.lit.splice(0), ["m"])
    assert.match((await runtime.failed("plain.x = plain.wipe\nplain.x(other=1)")).error.message, /unexpected keyword/)
    plain.x = undefined
  })

  test("finds a stored function that was stored again, and no way around in a circle", async () => {
    await refused("plain.x = light.wipe\nplain.x = plain.x\nplain.x('a')")
    assert.match(
      (await runtime.failed("plain.x('a')", { callGate: refusing().callGate })).error.message,
      /not approved/,
    )
    await runtime.ran("plain.x = wipe\nplain.x = plain.x\nassert plain.x is wipe")
    const circle =
      "plain.x = lambda: 1\nmethod = plain.x\nother.x = lambda: 2\nother.x = plain.x\nplain.x = other.x\nplain.x()"
    await runtime.inject({ other: new Light() })
    const execution = await runtime.execute(circle)
    assert.ok(execution.ok || /back to itself/.test(execution.error.message))
    plain.x = undefined
  })

  test("has guards before the object arrives", async () => {
    const other = new Light()
    await runtime.inject({
      swap: async () => runtime.update({ light: variable(other, { guard: { wipe: { approve: true } } }) }),
    })
    const { callGate } = refusing()
    const code = "import threading\nold = light\nswap()\nlight.wipe('a')"
    assert.match((await runtime.failed(code, { callGate })).error.message, /not approved/)
    assert.deepEqual([light.lit, other.lit], [[], []])
    await runtime.update({ light })
    assert.match((await runtime.failed("light.wipe('a')", { callGate })).error.message, /not approved/)
  })

  test("judges a call that a thread makes later by the cell that started the thread", async () => {
    const seen: string[] = []
    const gate = (name: string): CallGate => {
      return (call, next) => {
        if (call.binding === "note") seen.push(name)
        return next()
      }
    }
    await runtime.inject({ note: () => undefined })
    await runtime.ran(
      [
        "import threading, asyncio",
        "go = threading.Event()\ndone = threading.Semaphore(0)",
        "def work():\n    go.wait(20)\n    note()\n    done.release()",
        "threading.Thread(target=work).start()\nthreading.Timer(0.001, work).start()",
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\njob = pool.submit(work)",
        "async def task():\n    while not go.is_set(): await asyncio.sleep(0.001)\n    note()\n    done.release()",
        "left = asyncio.ensure_future(task())\nawait asyncio.sleep(0)",
        "hold(lambda: note())",
      ].join("\n"),
      { callGate: gate("first") },
    )
    const release = "go.set()\nawait left\nfor _ in range(4): assert done.acquire(timeout=20)\nnote()"
    await runtime.ran(release, { callGate: gate("second") })
    assert.deepEqual(seen.splice(0).sort(), ["first", "first", "first", "first", "second"])
    const callback = held.pop() as () => Promise<unknown>
    await runtime.inject({ back: () => callback() })
    await runtime.ran("back()", { callGate: gate("third") })
    assert.deepEqual(seen.splice(0), ["first"])
    await runtime.ran("pool.submit(note).result(20)", { callGate: gate("fourth") })
    assert.deepEqual(seen, ["fourth"])
  })

  test("holds for what is passed on after a reset, and what was passed on before leads nowhere", async () => {
    await runtime.ran("hold(wipe)\nhold(light.wipe)")
    const before = held.splice(0) as ((mode: string) => Promise<unknown>)[]
    await runtime.reset()
    await runtime.ran("hold(wipe)\nhold(light.wipe)", { callGate: refusing().callGate })
    for (const old of before) assert.throws(() => old("a"), /was reset or closed/)
    for (const passed of held.splice(0) as typeof before) await assert.rejects(passed("a"), /not approved/)
    assert.deepEqual([wiped, light.lit], [[], []])
  })

  test("refuses calls that belong to no cell", async () => {
    const code = "class Left:\n    def __del__(self): wipe('gone')\nleft_over = Left()"
    await runtime.ran(code)
    const { callGate, asked } = refusing()
    await runtime.update({ left_over: 1 })
    await runtime.ran("1", { callGate })
    assert.deepEqual([asked, wiped], [[], []])
  })
})

describe("objects from Python that hold functions", { skip: requires("python", "pandas") }, () => {
  const called: string[] = []
  const light = new Light()
  const runtime = sharedRuntime({
    wipe: fn(() => void called.push("wipe"), { approve: true }),
    take: (value: unknown) => JSON.stringify(value),
    later: async (value: unknown) => value,
    light,
  })
  const names = ["then", "toJSON", "toString", "valueOf"]

  test("are refused as arguments, and nothing in them is called", async () => {
    for (const name of names) {
      for (const code of [`take({'${name}': wipe})`, `later([{'${name}': wipe}])`, `light.x = {'${name}': wipe}`]) {
        assert.match((await runtime.failed(code)).error.message, new RegExp(`function under "${name}"`), code)
      }
    }
    assert.deepEqual(called, [])
  })

  test("are refused by retrieve and in table columns, and as the value of a cell are no value", async () => {
    for (const name of names) {
      for (const value of [`{'${name}': wipe}`, `[{'${name}': lambda *a: wipe()}]`]) {
        await runtime.ran(`odd = ${value}`)
        await assert.rejects(retrieveAny(runtime, "odd"), new RegExp(`function under "${name}"`))
        await runtime.ran("odd")
      }
      await runtime.ran(`import pandas as pd\ntable = pd.DataFrame({'a': [1], '${name}': [wipe]})`)
      await assert.rejects(retrieveAny(runtime, "table"), new RegExp(`function under "${name}"`))
      await runtime.ran(`table = pd.DataFrame({'a': [{'${name}': wipe}]})`)
      await assert.rejects(retrieveAny(runtime, "table"), new RegExp(`function under "${name}"`))
    }
    assert.deepEqual(called, [])
  })

  test("are kept from members that the language calls", async () => {
    const { error } = await runtime.failed("light.then = wipe")
    assert.match(error.message, /then/)
    assert.deepEqual(called, [])
  })
})

describe("an agent in a cell of Python", { skip: requires("python") }, () => {
  test("takes its options by keyword", async () => {
    await using inner = jsRuntime({ rows: [1] })
    const model = scriptedModel(["```ts\nrows = rows.map((row) => row * 2)\n```\n", "Done."])
    const cleaner = createAgent({ model, runtime: inner, name: "cleaner" })
    await using runtime = pythonRuntime({ cleaner })
    const { value } = cellsOf(runtime)
    assert.equal(await value('cleaner.run("double", values={"rows": [1, 2]})["status"]'), "done")
    assert.deepEqual(await inner.retrieve("rows"), [2, 4])
    await value("cleaner.runtime.update(rows=[7])")
    assert.deepEqual(await inner.retrieve("rows"), [7])
  })
})
