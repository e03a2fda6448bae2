// Declares Node's globals for the type checker.
import { runInNewContext } from "node:vm"

/** Declares every global of the running Node as `any`, except those of the language itself, so that no global counts as
 *  unknown. */
export function ambientDeclarations(): string {
  const language = new Set<string>(runInNewContext("Object.getOwnPropertyNames(globalThis)"))
  const names = Object.getOwnPropertyNames(globalThis).filter(
    (name) => !declaredSeparately.has(name) && !language.has(name) && /^[A-Za-z_$][\w$]*$/.test(name),
  )
  return [
    ...names.map((name) => `declare var ${name}: any\ntype ${name} = any`),
    `interface Console { ${Object.keys(console)
      .map((name) => `${name}: any`)
      .join("; ")} }`,
    "declare var console: Console",
    "declare var WebAssembly: any",
    // The value of the last cell.
    "declare var _: any",
    "declare function finish(answer: unknown): void",
    "declare function fetch(...request: any[]): Promise<any>",
  ].join("\n")
}

const declaredSeparately = new Set(["console", "fetch", "WebAssembly", "globalThis"])
