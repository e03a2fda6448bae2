import assert from "node:assert/strict"
import type { RuntimeCase } from "karst/testing"
import { jsRuntime } from "../../src/runtime/js.ts"
import type { CallGate, CellExecution, CellNotExecuted } from "../../src/runtime/runtime.ts"
import {
  type Breaks,
  changed,
  changing,
  failing,
  functions,
  gated,
  onlySays,
  ran,
  refuses,
  rewriting,
  values,
  withOptions,
} from "./breaking.ts"

const shared = jsRuntime()

/** Faulty runtimes that each case must reject. Faults that only a long wait would reveal are left out. */
export const mutants: { [C in RuntimeCase]?: { [what: string]: Breaks } } = {
  persistence: {
    "forgets everything between cells": ({ reset, execute }) => ({
      execute: (...cell) => reset().then(() => execute(...cell)),
    }),
  },
  redeclaration: { "has names for good": refuses(/^(?:function|class) /) },
  separation: { "shares its names with all others": () => shared },
  "trailing-value": {
    "gives no value": changing((execution) => ({ ...execution, value: undefined })),
    "gives a value for a statement": changing((execution) =>
      execution.value === undefined ? { ...execution, value: 1 } : execution,
    ),
    "shows nothing": changing(({ preview: _, ...execution }) => execution),
    "shows what is not there": changing((execution) => ({ preview: "undefined", ...execution })),
  },
  load: {
    "takes what it should load for done": ({ load }) => ({
      load: async (file) => (load === undefined ? [] : (await load(file)).slice(1)),
    }),
  },
  "top-level-await": { "does not wait": rewriting((code) => code.replace("= await ", "= ")) },
  "error-line": {
    "counts lines from zero": failing(({ line = 0, ...error }) => ({ ...error, line: line - 1 })),
    "tells no line": failing(({ line: _, ...error }) => error),
    "drops the class of an error": failing((error) => ({ ...error, message: error.message.replace(/^\w+: /, "") })),
  },
  "error-in-older-cell": { "tells the line of the older cell": failing((error) => ({ ...error, line: 2 })) },
  "unknown-name": { "knows every name": rewriting((code) => (code === "nowhere" ? "1" : code)) },
  "syntax-error": {
    "takes it for a throw": failing((error) => ({ ...error, kind: "throw" })),
    "runs what it can": ({ execute }) => ({
      async execute(code, options) {
        if (code.includes("const = ")) await execute(code.split("\n")[0] ?? "", options)
        return execute(code, options)
      },
    }),
  },
  "error-half-way": { "takes everything back": withOptions((options) => ({ ...options, transaction: true })) },
  changes: {
    "tells none": changed(() => ({ created: [], reassigned: [], removed: [] })),
    "takes new for changed": changed(({ created, removed }) => ({ created: [], reassigned: created, removed })),
  },
  output: {
    "mixes the streams": ran((execution) => ({ ...execution, stdout: execution.output })),
    "keeps each stream together": ran((execution) => ({ ...execution, output: execution.stdout + execution.stderr })),
    "says everything twice": ran((execution) => ({ ...execution, stdout: execution.stdout.repeat(2) })),
    "swallows what a failed cell said": ran((execution) => (execution.ok ? execution : { ...execution, stdout: "" })),
  },
  "output-streaming": {
    "takes everything for stdout": withOptions(({ onOutput: output, ...options }) => ({
      ...options,
      onOutput: ({ text }) => output?.({ stream: "stdout", text }),
    })),
  },
  "large-output": {
    "cuts what is long": ran((execution) => ({ ...execution, stdout: execution.stdout.slice(0, 65_536) })),
  },
  "inject-names": { "takes any name": ({ inject }) => ({ inject: (bindings) => inject(bindings).catch(() => {}) }) },
  "inject-all-or-none": {
    "injects what it can": ({ inject }) => ({
      async inject(bindings) {
        for (const [name, value] of Object.entries(bindings)) await inject({ [name]: value })
      },
    }),
  },
  "inject-again": {
    "lets the last one win": ({ inject, update }) => ({
      inject: (bindings) => inject(bindings).catch(() => update(bindings)),
    }),
  },
  thenables: {
    "waits for what it is given": ({ inject }) => ({
      async inject(bindings) {
        const entries = Object.entries(bindings).map(async ([name, value]) => [name, await Promise.race([value, 1])])
        await inject(Object.fromEntries(await Promise.all(entries)))
      },
    }),
    "gives a promise away": ({ retrieve }) => ({
      retrieve: (name) => (name === "pending" ? Promise.resolve(1) : retrieve(name)),
    }),
  },
  update: {
    "does nothing": () => ({ update: async () => {} }),
    "binds functions anew": ({ update, execute }) => ({
      async update({ add, ...values }) {
        await update(values)
        await execute("const add = async (a) => a + 100")
      },
    }),
  },
  "update-refused": {
    "updates what it can": ({ update }) => ({
      async update(values) {
        for (const [name, value] of Object.entries(values)) await update({ [name]: value })
      },
    }),
    "makes names": ({ update, inject }) => ({ update: (values) => update(values).catch(() => inject(values)) }),
  },
  retrieve: {
    "gives what was injected": ({ inject, retrieve }) => {
      const given = new Map<string, unknown>()
      return {
        async inject(bindings) {
          for (const [name, value] of Object.entries(bindings)) given.set(name, structuredClone(value))
          await inject(bindings)
        },
        retrieve: async (name) => given.get(name) ?? retrieve(name),
      }
    },
  },
  "retrieve-unknown": {
    "gives nothing": ({ retrieve }) => ({ retrieve: (name) => retrieve(name).catch(() => undefined) }),
    "does not say what there is": ({ retrieve }) => ({
      retrieve: (name) =>
        retrieve(name).catch((error) => Promise.reject(Object.assign(error, { message: `No "${name}".` }))),
    }),
  },
  "retrieve-schema": { "has no use for schemas": ({ retrieve }) => ({ retrieve: (name) => retrieve(name) }) },
  names: {
    "knows variables only": ({ names }) => ({
      names: async () => (await names()).map((name) => ({ ...name, kind: "variable" })),
    }),
    "claims every name": ({ names }) => ({
      names: async () => (await names()).map((name) => ({ ...name, injected: true })),
    }),
    "does not measure": ({ names }) => ({ names: async () => (await names()).map(({ size: _, ...name }) => name) }),
    "forgets what cells made": ({ names }) => ({
      names: async () => (await names()).filter(({ injected }) => injected),
    }),
  },
  keep: {
    "has one name for all": ({ execute }) => ({
      keep: (prefix, value) => execute(`${prefix}_1 = "${value}"`).then(() => `${prefix}_1`),
    }),
    "uses a name again": ({ keep, reset }) => {
      let before: string | undefined
      return {
        keep: async (...given) => before ?? keep(...given),
        async reset() {
          await reset()
          before = "_output_2"
        },
      }
    },
  },
  describe: {
    "tells values": ({ describe, retrieve }) => ({
      describe: async (names) => `${await describe(names)} ${await retrieve("password")}`,
    }),
    "tells nothing": () => ({ describe: async () => "" }),
    "tells all it has": ({ describe }) => ({ describe: () => describe() }),
  },
  reset: {
    "keeps everything": () => ({ reset: async () => {} }),
    "forgets what was updated": ({ inject, update, reset }) => {
      const first: Record<string, unknown> = {}
      return {
        inject(bindings) {
          Object.assign(first, bindings)
          return inject(bindings)
        },
        reset: () => reset().then(() => update({ label: first.label })),
      }
    },
  },
  "gate-sequence": {
    "calls past the gate": withOptions(({ callGate: _, ...options }) => options),
    "asks about every other call": (sound) => {
      let count = 0
      return gated((gate) => (call, next) => (count++ % 2 ? next() : gate(call, next)))(sound)
    },
    "asks twice": gated((gate) => (call, next) => gate(call, async () => 1).then(() => gate(call, next))),
    "does not tell the arguments": gated((gate) => (call, next) => gate({ ...call, args: [] }, next)),
    "does not tell what needs approval": gated((gate) => (call, next) => gate({ ...call, approve: false }, next)),
    "gives all calls one id": gated((gate) => (call, next) => gate({ ...call, id: "call" }, next)),
  },
  "gate-parallel": {
    "gives answers in the order of the calls": (sound) => {
      const waiting: ((answer: unknown) => void)[] = []
      const inOrder: (gate: CallGate) => CallGate = (gate) => (call, next) => {
        const { promise, resolve } = Promise.withResolvers<unknown>()
        waiting.push(resolve)
        gate(call, next).then((answer) => waiting.shift()?.(answer))
        return promise
      }
      return gated(inOrder)(sound)
    },
  },
  "gate-closures": {
    "asks the gate of the cell that made the function": (sound) => {
      let first: CallGate | undefined
      return withOptions((options) => {
        first ??= options.callGate
        return { ...options, callGate: first }
      })(sound)
    },
    "asks the last gate there was": (sound) => {
      let last: CallGate | undefined
      return withOptions((options) => {
        last = options.callGate ?? last
        return { ...options, callGate: last }
      })(sound)
    },
  },
  "gate-guards": {
    "does not tell a guard": gated(
      (gate) =>
        ({ maxCalls: _, ...call }, next) =>
          gate(call, next),
    ),
  },
  "gate-changes": { "calls with what the cell gave": gated((gate) => (call, next) => gate(call, () => next())) },
  "gate-decides": {
    "calls before it asks": gated((gate) => async (call, next) => {
      const made = next()
      return gate(call, () => made)
    }),
    "gives what the function gave": gated((gate) => async (call, next) => {
      let made: unknown
      await gate(call, async () => {
        made = await next()
        return made
      })
      return made
    }),
  },
  "call-errors": {
    "hides what was thrown": functions((call) => async (...args) => {
      try {
        return await call(...args)
      } catch {
        throw new Error("failed")
      }
    }),
  },
  "call-error-lines": {
    "does not know where a function was called": failing((error) => withoutLine(error, "out of order")),
    "does not know where a method was called": failing((error) => withoutLine(error, "no power")),
  },
  "call-many": {
    "loses a call": (sound) => {
      let count = 0
      return functions(
        (call) =>
          (...args) =>
            ++count === 150 ? undefined : call(...args),
      )(sound)
    },
    "makes calls later": functions(
      (call) =>
        (...args) =>
          void (args[0] === 7 ? setTimeout(call, 1, ...args) : call(...args)),
    ),
  },
  "call-with-host-objects": {
    "hands on copies": functions(
      (call) =>
        (...args) =>
          call(...structuredClone(args)),
    ),
  },
  "call-results-with-behaviour": {
    "gives copies": functions(
      (call) =>
        async (...args) =>
          structuredClone(await call(...args)),
    ),
  },
  "calls-settle": {
    "does not wait for calls": functions(
      (call) =>
        (...args) =>
          void call(...args),
    ),
  },
  turns: {
    "lets a later cell go first": (sound) => {
      let count = 0
      return withOptions(async (options) =>
        count++ === 0 ? new Promise((go) => setTimeout(go, 5, options)) : options,
      )(sound)
    },
    "runs cells together": ({ execute }) => {
      return {
        execute: (code, options) =>
          code.includes("note") ? execute(`(async () => {${code}})()\n0`, options) : execute(code, options),
      }
    },
  },
  "failure-in-line": {
    "is spoilt by a failure": (sound) => {
      let failed: CellExecution | undefined
      return ran((execution) => {
        if (!execution.ok) failed = execution
        return failed ?? execution
      })(sound)
    },
  },
  "timeout-loop": {
    "takes it for a throw": failing((error) => ({ ...error, kind: "throw" })),
    "forgets what was injected": ({ execute, reset }) => ({
      async execute(code, options) {
        const execution = await execute(code, options)
        if (!execution.ok && execution.error.kind === "timeout")
          await execute("delete globalThis.given")
            .then(reset)
            .then(() => execute("delete globalThis.given"))
        return execution
      },
    }),
  },
  "timeout-pauses": { "counts on": withOptions(({ subscribeToPauses: _, ...options }) => options) },
  "timeout-nothing-after": { "only says that it stopped": onlySays },
  "timeout-signal": {
    "makes the call all the same": gated((gate) => (call, next) => {
      next().catch(() => {})
      return gate(call, async () => 1)
    }),
  },
  "timeout-unneeded": { "counts from when it was asked": onlySays },
  abort: {
    "takes it for a throw": failing((error) => ({ ...error, kind: "throw" })),
    "does not say why": failing((error) => ({ ...error, message: "The cell was aborted." })),
    "loses what was printed": ran((execution) => (execution.ok ? execution : { ...execution, output: "" })),
  },
  "abort-before": {
    "does not look at its signal first": withOptions(({ signal, ...options }) =>
      signal?.aborted ? options : { ...options, signal },
    ),
  },
  "abort-in-line": { "takes it for a throw": failing((error) => ({ ...error, kind: "throw" })) },
  close: {
    "works on when closed": () => ({ names: async () => [] }),
    "closes once": ({ close }) => {
      let closed = false
      return {
        async close() {
          if (closed) throw new Error("It is closed.")
          closed = true
          await close()
        },
      }
    },
    "does not say that it is closed": ({ retrieve }) => ({
      retrieve: (name) => retrieve(name).catch(() => Promise.reject(new Error("gone"))),
    }),
  },
  "close-while-running": { "takes it for a throw": failing((error) => ({ ...error, kind: "throw" })) },
  disposal: { "is not closed by `using`": () => ({ [Symbol.asyncDispose]: async () => {} }) },
  "inject-primitives": { "writes JSON": values((value) => JSON.parse(JSON.stringify(value))) },
  "inject-data": {
    "drops what is null": values((value) => JSON.parse(JSON.stringify(value), (_, part) => part ?? undefined)),
  },
  "inject-collections": {
    "makes objects of maps": values((value) => (value instanceof Map ? Object.fromEntries(value) : value)),
  },
  "inject-dates": {
    "drops milliseconds": values((value) =>
      value instanceof Date ? new Date(Math.floor(Number(value) / 1000) * 1000) : value,
    ),
  },
  "inject-bigints": { "makes numbers of them": values((value) => (typeof value === "bigint" ? Number(value) : value)) },
  "inject-typed-arrays": {
    "makes lists of them": values((value) => (ArrayBuffer.isView(value) ? Array.from(Object.values(value)) : value)),
  },
  "inject-bytes": { "makes text of them": values((value) => (value instanceof Uint8Array ? String(value) : value)) },
  "inject-instances": {
    "copies them": values((value) => structuredClone(value)),
    "gives back copies": ({ retrieve }) => ({ retrieve: async (name) => structuredClone(await retrieve(name)) }),
  },
  "inject-instances-within": { "copies them": values((value) => structuredClone(value)) },
  "inject-functions": {
    "hands on one argument": functions((call) => (first) => call(first)),
    "gives back another function": ({ retrieve }) => ({
      async retrieve(name) {
        const value = await retrieve(name)
        return typeof value === "function" ? value.bind(undefined) : value
      },
    }),
  },
  "inject-async-functions": {
    "does not wait": functions(
      (call) =>
        (...args) =>
          void call(...args),
    ),
  },
  "inject-types": {
    "takes a class for a function": values((value) =>
      typeof value === "function" ? (...args: unknown[]) => Reflect.construct(value, args) : value,
    ),
  },
  "inject-agents": {
    "takes an agent for an object": ({ names }) => ({
      names: async () => (await names()).map((name) => ({ ...name, kind: "variable" })),
    }),
  },
  "inject-aliases": { "writes JSON": values((value) => JSON.parse(JSON.stringify(value))) },
  rollback: {
    "rolls nothing back": withOptions(({ transaction: _, ...options }) => options),
    "has no use for a check": withOptions((options) => ({
      ...options,
      transaction: options.transaction !== undefined,
    })),
    "says that something is left": ran((execution) =>
      execution.ok ? execution : { ...execution, notRolledBack: [{ name: "made", reason: "?" }] },
    ),
  },
  undo: {
    "has nothing to undo with": ran((execution) => (execution.ok ? { ...execution, undo: undefined } : execution)),
    "undoes nothing": ran((execution) => (execution.ok ? { ...execution, undo: async () => [] } : execution)),
  },
  snapshot: {
    "keeps nothing": ({ snapshot }) => {
      const empty = jsRuntime()
      return { snapshot: () => empty.snapshot?.() ?? snapshot?.() ?? assert.fail() }
    },
    "adds to what is there": ({ restore, execute }) => ({
      async restore(snapshot) {
        const lost = (await restore?.(snapshot)) ?? []
        await execute("let before = 1")
        return lost
      },
    }),
    "has a hash of its own each time": ({ snapshot }) => ({
      async snapshot() {
        const taken = (await snapshot?.()) ?? assert.fail()
        return { ...taken, hash: crypto.randomUUID() }
      },
    }),
  },
  finish: {
    "reports no text": changing(({ finishText: _, ...execution }) => execution),
    "ends the cell": rewriting((code) => code.replace(/^(finish\(.*\))\n[\s\S]*/, "$1")),
  },
  "finish-value": {
    "writes JSON": rewriting((code) => code.replace(/^finish\((\[.*\])\)$/, "finish(JSON.stringify($1))")),
  },
  "finish-failed-cell": {
    "reports the text of a failed cell": ran((execution) => ({ ...execution, finishText: "x" })),
  },
  "finish-refusals": {
    "takes the last of two calls": rewriting((code) => code.replace(/^finish\('a'\)\n/, "")),
    "accepts an empty text": rewriting((code) => code.replace("finish('  ')", "finish('x')")),
  },
  "finish-not-allowed": {
    "always allows it": withOptions((options) => ({ ...options, allowFinish: true })),
  },
  "finish-name": {
    "lets it be injected": ({ inject }) => ({
      inject: ({ finish, ...bindings }) => inject(finish === undefined ? bindings : {}),
    }),
    "lists it": ({ names }) => ({
      names: async () => [
        ...(await names()),
        { name: "finish", kind: "function", type: "Function", injected: true } as const,
      ],
    }),
  },
  "finish-own-name": {
    "refuses it": refuses(/^const finish/),
  },
  fork: {
    "is its own fork": (sound) => ({ fork: async () => sound }),
    "begins with nothing": () => ({ fork: async () => jsRuntime() }),
  },
}

function withoutLine({ line, ...error }: CellNotExecuted["error"], message: string): CellNotExecuted["error"] {
  return line === undefined || error.message.includes(message) ? error : { ...error, line }
}
