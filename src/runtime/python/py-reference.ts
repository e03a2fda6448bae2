import { ConfigError } from "../../core/errors.ts"

/** A thing of a Python package, imported and bound when the kernel starts. `T` is what `retrieve` gives for it. */
export interface PyReference<T = unknown> {
  readonly [reference]: true
  readonly [referred]?: T
  readonly module: string
  readonly attribute: string
}

/** Names something that lives in Python: `py("sklearn.linear_model:LinearRegression")`, or a whole module: `py("numpy")`.
 *  What is retrieved by its name is data or a handle, of the type that you say: `py<Model>("shop.models:model")`. */
export function py<T = unknown>(path: string): PyReference<T> {
  const found = /^([\p{L}_][\p{L}\p{N}_.]*)(?::([\p{L}_][\p{L}\p{N}_.]*))?$/u.exec(path)
  if (!found?.[1]) throw new ConfigError(`py(${JSON.stringify(path)}): write it like "package.module:attribute".`)
  return { [reference]: true, module: found[1], attribute: found[2] ?? "" }
}

/** Keyword arguments for a call of a Python object, as the last argument: `await model.fit(x, kwargs({ verbose: 1 }))`. */
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
