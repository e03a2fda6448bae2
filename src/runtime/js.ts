// `jsRuntime`: runs cells in this process. The compiler and everything else is loaded when the runtime is first used.
import { checkOptions, mustBeLimit, mustBeObject, type OptionChecks } from "../core/checks/check-options.ts"
import { toCheckedBindings } from "./bindings/binding-names.ts"
import type { Bindings } from "./bindings.ts"
import type { JsCore } from "./js/js-core.ts"
import type { Rule } from "./rules/rules.ts"
import { checkingOptions, type Runtime } from "./runtime.ts"
import type { RuntimeLoss } from "./runtime-loss.ts"
import { mustBeNonEmptyText, mustBeRules } from "./runtime-options.ts"
import type { Codecs } from "./snapshot/codec.ts"
import type { TypedRuntime } from "./typed-runtime.ts"

export interface JsRuntimeOptions {
  /** Static checks of cells before they run. Default: no rules. */
  rules?: readonly Rule[] | undefined
  /** Folder from which `import` resolves files and packages. Default: the program's working directory. */
  cwd?: string | undefined
  /** Codecs for instances of your classes in snapshots, by a name of your choice. Default: instances are lost. */
  codecs?: Codecs | undefined
  /** Maximum size of a snapshot; the largest names are left out of a larger one. Default 16 MiB. */
  maxSnapshotBytes?: number | undefined
}

/** Runs TypeScript in this process: cells work on the same objects as the host, without copies and without isolation.
 *  For code you trust. A time-out or abort ends the execution at once and stops the cell at the next loop, function
 *  call or await; only a blocking built-in (a regular expression, a huge sort) runs to its end. */
export function jsRuntime<B extends Bindings = Bindings>(
  bindings?: B,
  options: JsRuntimeOptions = {},
): TypedRuntime<B> {
  checkOptions("jsRuntime()", options, optionChecks)
  // Report a wrong name at once, with the caller on the stack.
  const checkedBindings = { ...bindings }
  toCheckedBindings(checkedBindings)
  let core: JsCore | undefined
  let loading: Promise<JsCore> | undefined

  async function load(): Promise<JsCore> {
    const { createJsRuntime } = await import("./js/js-core.ts")
    core = createJsRuntime(checkedBindings, options)
    return core
  }

  function withCore<T>(job: (core: JsCore) => Promise<T>): Promise<T> {
    if (core) return job(core)
    loading ??= load()
    return loading.then(job)
  }

  // The bindings' types are only known here; at run time there is one kind of runtime.
  return createRuntime(withCore, options) as TypedRuntime<B>
}

type WithCore = <T>(job: (core: JsCore) => Promise<T>) => Promise<T>

// Forks are created here too, so that they are the same kind of runtime.
function createRuntime(withCore: WithCore, options: JsRuntimeOptions, notCopied?: readonly RuntimeLoss[]): Runtime {
  const runtime: Runtime = {
    ...(notCopied && { notCopied }),
    language: "typescript",
    isolation: "none",
    access: { rules: options.rules ?? [], network: true, packages: true, remote: false },
    inject: (more) => withCore((core) => core.inject(more)),
    load: (file) => withCore((core) => core.load(file)),
    update: (values) => withCore((core) => core.update(values)),
    retrieve: (name, schema) => withCore((core) => core.retrieve(name, schema)),
    execute: (code, executeOptions) => withCore((core) => core.execute(code, executeOptions)),
    describe: (names) => withCore((core) => core.describe(names)),
    names: () => withCore((core) => core.names()),
    keep: (prefix, value) => withCore((core) => core.keep(prefix, value)),
    forget: (names) => withCore((core) => core.forget(names)),
    trackInjected: () => withCore((core) => core.trackInjected()),
    snapshot: (limit) => withCore((core) => core.snapshot(limit)),
    restore: (snapshot) => withCore((core) => core.restore(snapshot)),
    async fork() {
      const copy = await withCore((core) => core.fork())
      return createRuntime((job) => job(copy), options, copy.notCopied)
    },
    reset: () => withCore((core) => core.reset()),
    close: () => withCore((core) => core.close()),
    [Symbol.asyncDispose]: () => runtime.close(),
  }
  return checkingOptions(runtime)
}

const optionChecks: OptionChecks<JsRuntimeOptions> = {
  rules: mustBeRules,
  cwd: mustBeNonEmptyText,
  codecs: mustBeObject,
  maxSnapshotBytes: mustBeLimit(1),
}
