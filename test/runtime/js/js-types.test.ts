import assert from "node:assert/strict"
import { test } from "node:test"
import { z } from "zod"
import { AgentError } from "../../../src/core/errors.ts"
import { classType, fn, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { ProcessRuntime } from "../../../src/runtime/process.ts"
import type { PythonRuntime } from "../../../src/runtime/python.ts"
import type { Runtime } from "../../../src/runtime/runtime.ts"
import type { TypedRuntime } from "../../../src/runtime/typed-runtime.ts"

interface Task {
  name: string
}

class Light {
  brightness = 1
}

// Checked by the compiler: true if two types are identical.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(holds: Same<A, B>): void => assert.ok(holds)

test("retrieve knows the types of what was put in", async () => {
  const addTask = (name: string): Task => ({ name })
  const runtime = jsRuntime({
    tasks: variable([] as Task[], "The user's tasks"),
    bare: 5,
    empty: [],
    addTask: fn(addTask),
    wipe: addTask,
    Light: classType(Light),
    Bare: Light,
    light: new Light(),
  })
  const tasks: Task[] = await runtime.retrieve("tasks")
  const empty = await runtime.retrieve("empty")
  const light = await runtime.retrieve("light")
  const bare = await runtime.retrieve("bare")
  same<typeof empty, unknown[]>(true)
  same<typeof light, Light>(true)
  same<typeof bare, number>(true)
  const [add, wipe] = [await runtime.retrieve("addTask"), await runtime.retrieve("wipe")]
  same<typeof add, typeof addTask>(true)
  same<typeof wipe, typeof addTask>(true)
  const [Wrapped, Bare] = [await runtime.retrieve("Light"), await runtime.retrieve("Bare")]
  assert.deepEqual([new Wrapped().brightness, new Bare().brightness], [1, 1])
  assert.deepEqual([tasks, empty, bare, add("a")], [[], [], 5, { name: "a" }])
})

test("retrieve of a name that is not among the known ones does not compile without a schema", async () => {
  const runtime = jsRuntime({ light: new Light() })
  await runtime.execute("const made = 3")
  // @ts-expect-error: the name is mistyped.
  await assert.rejects(runtime.retrieve("ligth"), /light/)
  // @ts-expect-error: a cell made the name, so its type is not known.
  assert.equal(await runtime.retrieve("made"), 3)
  // @ts-expect-error: any string could be meant.
  assert.ok(await runtime.retrieve("light" as string))
  const made = await runtime.retrieve("made", z.number())
  same<typeof made, number>(true)
  assert.equal(made, 3)
})

test("where no name is known, every name can be read, as unknown", async () => {
  const given: Record<string, unknown> = { a: 1 }
  for (const runtime of [jsRuntime(), jsRuntime({}), jsRuntime(given)]) {
    await runtime.execute("const made = 3")
    const made = await runtime.retrieve("made")
    same<typeof made, unknown>(true)
    assert.equal(made, 3)
  }
  const plain: Runtime = jsRuntime({ a: 1 })
  same<Awaited<ReturnType<typeof plain.retrieve>>, unknown>(true)
})

test("with a schema, retrieve gives the validated value and its type", async () => {
  const runtime = jsRuntime()
  await runtime.execute("const report = { total: '12' }")
  const report = await runtime.retrieve("report", z.object({ total: z.coerce.number() }))
  same<typeof report, { total: number }>(true)
  assert.deepEqual(report, { total: 12 })
  await assert.rejects(runtime.retrieve("report", z.object({ total: z.boolean() })), (error: unknown) => {
    assert.ok(error instanceof AgentError)
    assert.equal(error.code, "invalid-value")
    assert.match(error.message, /"report".*total: /)
    return true
  })
})

test("every typed runtime is a runtime", async () => {
  const typed = jsRuntime({ a: 1 })
  const runtime: Runtime = typed
  same<typeof typed, TypedRuntime<{ a: number }>>(true)
  assert.equal(runtime.language, "typescript")
  assert.equal(runtime.isolation, "none")
})

test("what our runtimes can all do is there without a question", async () => {
  const runtime = jsRuntime({ a: 1 })
  const snapshot = await runtime.snapshot()
  assert.deepEqual(await runtime.restore(snapshot), [])
  const fork = await runtime.fork()
  same<typeof fork, typeof runtime>(true)
  assert.equal(await fork.retrieve("a"), 1)
  const forkAll = (process: ProcessRuntime<{ a: number }>, python: PythonRuntime<{ a: number }>) =>
    [process.fork(), python.fork()] as const
  type Forked = ReturnType<typeof forkAll>
  same<Awaited<Forked[0]>, ProcessRuntime<{ a: number }>>(true)
  same<Awaited<Forked[1]>, PythonRuntime<{ a: number }>>(true)
  const contract: Runtime = runtime
  same<undefined extends typeof contract.fork ? true : false, true>(true)
})
