import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { types } from "node:util"
import { jsRuntime, type RuntimeSnapshot } from "karst"
import { processRuntime } from "karst/process"
import { retrieveAny } from "../../retrieve-any.ts"

/** Stores the snapshots of a runtime: a full one, and the changes since then. */
function keeper(runtime: Pick<ReturnType<typeof jsRuntime>, "snapshot">) {
  let whole: RuntimeSnapshot | undefined
  let stored: RuntimeSnapshot | undefined
  return {
    async take(): Promise<RuntimeSnapshot> {
      const taken = await runtime.snapshot({ since: whole?.hash ?? "" })
      if (taken.since === undefined) whole = taken
      assert.ok(whole)
      stored = taken.since === undefined ? taken : { ...whole, changes: taken }
      if (taken.since !== undefined) assert.equal(taken.since, whole.hash)
      return taken
    },
    get stored(): RuntimeSnapshot {
      assert.ok(stored)
      return stored
    },
  }
}

describe("a snapshot since an earlier one", () => {
  test("has only the names that have changed", async () => {
    const runtime = jsRuntime({})
    await runtime.execute(
      'let n = 0; const rows = Array.from({ length: 1000 }, (_, id) => ({ id, name: "row " + id }))',
    )
    const kept = keeper(runtime)
    const { data: whole } = await kept.take()
    await runtime.execute("n = 1")
    const { data, since } = await kept.take()
    assert.ok(since)
    assert.ok(data.byteLength < 1000 && whole.byteLength > 10_000)
    const other = jsRuntime({})
    await other.restore(kept.stored)
    assert.equal(await other.retrieve("n"), 1)
    assert.deepEqual(await other.retrieve("rows"), await runtime.retrieve("rows"))
  })

  test("has all names that share an object with one that changed", async () => {
    const runtime = jsRuntime({})
    await runtime.execute("const part = { at: 1 }; const one = { part }; const two = [{ part }]; let three = { x: 1 }")
    const kept = keeper(runtime)
    await kept.take()
    await runtime.execute("three.of = one.part")
    await kept.take()
    const other = jsRuntime({})
    await other.restore(kept.stored)
    const { value } = okay(await other.execute("[one.part === part, two[0].part === part, three.of === part]"))
    assert.deepEqual(value, [true, true, true])
  })

  test("has a row of a table that another name has got as well", async () => {
    const runtime = jsRuntime({})
    await runtime.execute(
      "const rows = Array.from({ length: 2000 }, (_, id) => ({ id })); const list = []; const big = 'x'.repeat(500000)",
    )
    const kept = keeper(runtime)
    await kept.take()
    await runtime.execute("list.push(...rows.slice(10, 20))")
    assert.ok((await kept.take()).since)
    const other = jsRuntime({})
    await other.restore(kept.stored)
    assert.equal(okay(await other.execute("list.every((row, at) => row === rows[10 + at])")).value, true)
  })

  test("forgets names that were removed, and what a name was before", async () => {
    const runtime = jsRuntime({})
    await runtime.execute("var a = { x: 1 }; var b = { y: 1 }; const c = [1]; const d = 5")
    const kept = keeper(runtime)
    await kept.take()
    await runtime.execute("delete globalThis.a; b = 3; let d = 5")
    await kept.take()
    const other = jsRuntime({})
    await other.restore(kept.stored)
    assert.deepEqual((await other.names()).map(({ name }) => name).toSorted(), ["b", "c", "d"])
    okay(await other.execute("d = 6"))
    assert.equal((await other.execute("c = 6")).ok, false)
  })

  test("notices what the host and leftovers of cells change between cells", async () => {
    const shared = { list: [1] }
    const runtime = jsRuntime({ shared })
    await runtime.execute("const mine = { n: 0 }; const keep = 'x'.repeat(100000)")
    const held = (await retrieveAny(runtime, "mine")) as { n: number }
    const kept = keeper(runtime)
    await kept.take()
    shared.list.push(2)
    held.n = 7
    assert.ok((await kept.take()).since)
    const again = { list: [] }
    const other = jsRuntime({ shared: again })
    await other.restore(kept.stored)
    assert.deepEqual(again.list, [1, 2])
    assert.deepEqual(await retrieveAny(other, "mine"), { n: 7 })
  })

  test("does not run accessors that were put on known objects", async () => {
    const runtime = jsRuntime({})
    await runtime.execute("const data = { x: 1 }; let calls = 0")
    const kept = keeper(runtime)
    await kept.take()
    await runtime.execute(
      "Object.defineProperty(data, 'x', { get() { calls++; return 2 }, enumerable: true, configurable: true })",
    )
    const { lost } = await kept.take()
    assert.equal(await runtime.retrieve("calls"), 0)
    assert.ok(lost.some(({ name, path }) => name === "data" && path === ".x"))
  })

  test("is refused without the snapshot it belongs to, or with bytes that were changed", async () => {
    const runtime = jsRuntime({})
    await runtime.execute("let n = 0; const keep = 'x'.repeat(100000)")
    const kept = keeper(runtime)
    await kept.take()
    await runtime.execute("n++")
    const taken = await kept.take()
    const other = jsRuntime({})
    await assert.rejects(other.restore(taken), { code: "invalid-snapshot" })
    const damaged = { ...kept.stored, changes: { ...taken, data: taken.data.map((byte) => byte ^ 1) } }
    await assert.rejects(other.restore(damaged), { code: "invalid-snapshot" })
  })

  test("becomes whole again when much has changed, and after a restore", async () => {
    const runtime = jsRuntime({})
    await runtime.execute("var a = 'x'.repeat(50000); var b = { n: 1 }")
    const kept = keeper(runtime)
    const first = await kept.take()
    await runtime.execute("b.n = 2")
    assert.equal((await kept.take()).since, first.hash)
    await runtime.execute("a = 'y'.repeat(50000)")
    assert.equal((await kept.take()).since, undefined)
    await runtime.restore(kept.stored)
    assert.equal((await kept.take()).since, undefined)
  })

  test("works in another process", async () => {
    await using runtime = processRuntime({ shared: { n: 0 } })
    await runtime.execute(
      "let n = 0; const part = { at: 1 }; const keep = { part }; const text = 'x'.repeat(100000); class P {}; const p = new P()",
    )
    const kept = keeper(runtime as never)
    await kept.take()
    await runtime.execute("n = { of: keep.part }; shared.n = 4")
    assert.ok((await kept.take()).since)
    await runtime.execute("n.late = 1")
    assert.ok((await kept.take()).since)
    await using other = processRuntime({ shared: { n: 0 } })
    await other.restore?.(kept.stored)
    const { value } = okay(await other.execute("[n.of === part, keep.part === part, n.late, p instanceof P]"))
    assert.deepEqual(value, [true, true, 1, true])
  })
})

describe("changed groups restore the same graph as a whole snapshot", () => {
  for (let seed = 1; seed <= 10; seed++) {
    test(`with random objects that share references, over many cells (${seed})`, async () => {
      const random = randomFrom(seed)
      const bindings = () => ({ shared: { list: [] as unknown[], map: new Map() }, box: new Box() })
      const injected = bindings()
      const runtime = jsRuntime(injected)
      await runtime.execute(`class Point { constructor(x) { this.x = x } }
        function make(x) { return new Point(x) }
        const ballast = Array.from({ length: 300 }, (_, id) => ({ id, text: "row " + id }))`)
      const kept = keeper(runtime)
      let partial = 0
      for (let cell = 0; cell < 30; cell++) {
        const code = Array.from({ length: 1 + Math.floor(random() * 3) }, () => statement(random)).join("\n")
        await runtime.execute(code)
        if (random() < 0.1) injected.shared.list.push(cell)
        if ((await kept.take()).since !== undefined) partial++
        const [one, other] = [bindings(), bindings()]
        const [changed, whole] = [jsRuntime(one), jsRuntime(other)]
        await changed.restore(kept.stored)
        await whole.restore(await runtime.snapshot())
        assert.equal(await graphOf(changed), await graphOf(whole), code)
      }
      assert.ok(partial > 5, `${partial} of 30 had changes only`)
    })
  }
})

class Box {
  size = 1
}

/** Returns a random statement over the names v0 … v9. */
function statement(random: () => number): string {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const name = () => `v${Math.floor(random() * 10)}`
  const held = () => `(typeof ${name()} === "object" && ${name()} || {})`
  const value = (): string =>
    pick([
      () => String(Math.floor(random() * 5)),
      () => JSON.stringify("text".repeat(Math.floor(random() * 3))),
      () => `{ a: ${name()}, b: ${Math.floor(random() * 9)} }`,
      () => `[${name()}, ${Math.floor(random() * 9)}, ballast[${Math.floor(random() * 300)}]]`,
      () => `new Map([["k", ${name()}], [${name()}, 1]])`,
      () => `new Set([${name()}, { s: 1 }])`,
      () => "new Date(1e12)",
      () => `make(${name()})`,
      () => "make",
      () => "shared.list",
      () => "shared",
      () => "box",
      () => `Object.assign(Object.create(null), { n: ${name()} })`,
      () => `Object.freeze({ f: ${name()} })`,
      () => "new Uint8Array([1, 2, 3])",
      () => "Symbol('s')",
      () => `/x/g`,
    ])()
  const all = `var ${Array.from({ length: 10 }, (_, at) => `v${at}`).join(", ")};`
  return pick([
    () => `${all} ${name()} = ${value()}`,
    () => `${all} ${name()} = ${name()}`,
    () => `${all} { const at = ${held()}; if (Object.isExtensible(at)) at.p${Math.floor(random() * 3)} = ${value()} }`,
    () =>
      `${all} { const at = ${name()}; if (Array.isArray(at)) at.push(${value()}); if (at instanceof Map) at.set("z", ${name()}) }`,
    () =>
      `${all} { const at = ${name()}; if (at instanceof Set) at.add(${name()}); if (at instanceof Date) at.setTime(at.getTime() + 1) }`,
    () => `delete globalThis.${name()}`,
    () => `ballast[${Math.floor(random() * 300)}].text = "changed"`,
    () => `${all} shared.list.push(${name()})`,
    () => `${all} shared.map.set("m", ${name()})`,
    () =>
      `${all} { const at = ${held()}; Object.defineProperty(at, "h", { value: 1, enumerable: false, configurable: true, writable: true }) }`,
    () => `make.count = (make.count ?? 0) + 1`,
  ])()
}

/** Returns all names of a runtime as text that is equal for graphs with equal values and the same shared objects. */
async function graphOf(runtime: ReturnType<typeof jsRuntime>): Promise<string> {
  const ids = new Map<unknown, number>()
  const lines: string[] = []
  for (const { name } of (await runtime.names()).toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    lines.push(`${name} = ${show(await runtime.retrieve(name))}`)
  }
  return lines.join("\n")

  function show(value: unknown): string {
    if ((typeof value !== "object" && typeof value !== "function") || value === null) {
      return typeof value === "string" ? JSON.stringify(value) : String(value)
    }
    const known = ids.get(value)
    if (known !== undefined) return `#${known}`
    ids.set(value, ids.size)
    const label = `#${ids.size - 1}:`
    const prototype: object | null = Object.getPrototypeOf(value)
    const maker: unknown = prototype?.constructor
    const own = Reflect.ownKeys(value)
      .filter(
        (key) =>
          typeof value !== "function" || !["length", "name", "prototype", "arguments", "caller"].includes(String(key)),
      )
      .map((key) => {
        const { value: held, writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(value, key) ?? {}
        return `${String(key)}${writable}${enumerable}${configurable}: ${show(held)}`
      })
    const closed = Object.isFrozen(value) ? "frozen" : Object.isExtensible(value) ? "" : "closed"
    const inner = types.isMap(value)
      ? [...value].map(([key, held]) => `${show(key)} => ${show(held)}`)
      : types.isSet(value)
        ? [...value].map(show)
        : types.isDate(value)
          ? [String(value.getTime())]
          : []
    const made =
      prototype === null ? "null" : isPlatform(maker) ? String((maker as { name: string }).name) : show(maker)
    const text = typeof value === "function" ? String(value) : ""
    return `${label}${made}${closed}${text}{${[...own, ...inner].join(", ")}}`
  }
}

const isPlatform = (maker: unknown) => typeof maker === "function" && /\[native code\]/.test(String(maker))

function okay<T extends { ok: boolean }>(execution: T): Extract<T, { ok: true }> {
  assert.ok(execution.ok, JSON.stringify(execution))
  return execution as Extract<T, { ok: true }>
}

function randomFrom(seed: number): () => number {
  let state = seed * 2654435761
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) >>> 0
    return state / 2 ** 32
  }
}
