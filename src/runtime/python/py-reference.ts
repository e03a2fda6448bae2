// py() names an object of a Python package; kwargs() passes keyword arguments.
import { ConfigError } from "../../core/errors.ts"

/** An object of a Python package, imported and bound when the kernel starts. `retrieve` returns a `T`. */
export interface PyReference<T = unknown> {
  readonly [reference]: true
  readonly [referred]?: T
  readonly module: string
  readonly attribute: string
}

/** Names a Python object, `py("sklearn.linear_model:LinearRegression")`, or a module, `py("numpy")`. Retrieving it
 *  returns data or a handle of the type parameter: `py<Model>("shop.models:model")`. */
export function py<T = unknown>(path: string): PyReference<T> {
  const found = /^([\p{L}_][\p{L}\p{N}_.]*)(?::([\p{L}_][\p{L}\p{N}_.]*))?$/u.exec(path)
  if (!found?.[1]) throw new ConfigError(`py(${JSON.stringify(path)}): write it like "package.module:attribute".`)
  return { [reference]: true, module: found[1], attribute: found[2] ?? "" }
}

/** Keyword arguments as the last argument of a call into Python: `await model.fit(x, kwargs({ verbose: 1 }))`. */
export function kwargs(values: Record<string, unknown>): KeywordArguments {
  return { [keywords]: true, values }
}

export interface KeywordArguments {
  readonly [keywords]: true
  readonly values: Record<string, unknown>
}

export function isPyReference(value: unknown): value is PyReference {
  return typeof value === "object" && value !== null && Object.hasOwn(value, reference)
}

export function isKeywordArguments(value: unknown): value is KeywordArguments {
  return typeof value === "object" && value !== null && Object.hasOwn(value, keywords)
}

const reference: unique symbol = Symbol("karst.py")
declare const referred: unique symbol
const keywords: unique symbol = Symbol("karst.kwargs")
