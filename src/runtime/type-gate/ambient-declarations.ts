import { runInNewContext } from "node:vm"

/** Declares what a cell finds besides its names and the language's own library: each global of this very Node, loosely
 *  typed, so that none is ever called unknown. */
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
    "declare function fetch(...request: any[]): Promise<any>",
  ].join("\n")
}

const declaredSeparately = new Set(["console", "fetch", "WebAssembly", "globalThis"])
