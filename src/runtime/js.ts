import { checkOptions, mustBeObject, mustBePositive, type OptionChecks } from "../core/checks/check-options.ts"
import { toCheckedBindings } from "./bindings/binding-names.ts"
import type { Bindings } from "./bindings.ts"
import type { JsCore } from "./js/js-core.ts"
import type { Rule } from "./rules/rules.ts"
import type { Runtime, TypedRuntime } from "./runtime.ts"
import { areRules, isNonEmpty } from "./runtime-options.ts"
import type { Codecs } from "./snapshot/codec.ts"

export interface JsRuntimeOptions {
  /** What cells must not do. Default: no rules. */
  rules?: readonly Rule[] | undefined
  /** Where `import` looks for files and packages. Default: where the program was started. */
  cwd?: string | undefined
  /** How instances of your classes go into snapshots, by a name of your choice. Default: they are lost. */
  codecs?: Codecs | undefined
  /** The largest names are left out of a snapshot that would have more bytes. Default 16 MiB. */
  maxSnapshotBytes?: number | undefined
}

/** Runs TypeScript in this very process: cells work on the same objects as the host, with no copy and no boundary.
 *  For code you trust. A time-out or abort gives the execution its result at once and stops the cell at the next loop,
 *  function call or await; only a built-in that blocks (a regular expression, a huge sort) runs to its end. */
export function jsRuntime<B extends Bindings = Record<never, never>>(
  bindings?: B,
  options: JsRuntimeOptions = {},
): TypedRuntime<B> {
  checkOptions("jsRuntime()", options, optionChecks)
  // A wrong name is told at once, where it was written; the rest, with its compiler, is loaded when it is first used.
  const given = { ...bindings }
  toCheckedBindings(given)
  let core: JsCore | undefined
  let loading: Promise<JsCore> | undefined

  async function load(): Promise<JsCore> {
    const { createJsRuntime } = await import("./js/js-core.ts")
    core = createJsRuntime(given, options)
    return core
  }

  function use<T>(job: (core: JsCore) => Promise<T>): Promise<T> {
    if (core) return job(core)
    loading ??= load()
    return loading.then(job)
  }

  const runtime: Runtime = {
    language: "typescript",
    isolation: "none",
    inject: (more) => use((core) => core.inject(more)),
    load: (file) => use((core) => core.load(file)),
    update: (values) => use((core) => core.update(values)),
    retrieve: (name, schema) => use((core) => core.retrieve(name, schema)),
    execute: (code, executeOptions) => use((core) => core.execute(code, executeOptions)),
    describe: (names) => use((core) => core.describe(names)),
    names: () => use((core) => core.names()),
    keep: (prefix, value) => use((core) => core.keep(prefix, value)),
    snapshot: (limit) => use((core) => core.snapshot(limit)),
    restore: (snapshot) => use((core) => core.restore(snapshot)),
    fork: () => use((core) => core.fork()),
    reset: () => use((core) => core.reset()),
    close: () => use((core) => core.close()),
    [Symbol.asyncDispose]: () => runtime.close(),
  }
  // The types of what was put in are known here and nowhere else; at run time a runtime is a runtime.
  return runtime as TypedRuntime<B>
}

const optionChecks: OptionChecks<JsRuntimeOptions> = {
  rules: areRules,
  cwd: isNonEmpty,
  codecs: mustBeObject,
  maxSnapshotBytes: mustBePositive,
}
