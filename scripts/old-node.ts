// Lets a too old Node read the built modules far enough to report its version.
import { readFileSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import type { Plugin } from "rollup"

/** What lets a Node that is too old read the built modules as far as the check of its version: syntax and imports that
 *  it does not know would end it before any code runs. */
export function oldNodePlugins(folder: string): Plugin[] {
  return [sharedDisposal(folder), builtinsAsNamespaces()]
}

const disposal = "core/disposal.js"
const helper = /^var (__addDisposableResource|__disposeResources) = [\s\S]*?^\}\S*(?:\(.*)?;\n/gm

// TypeScript writes `using` as two functions, again in each module: all share one pair.
function sharedDisposal(folder: string): Plugin {
  const texts = new Map<string, string>()
  const id = join(folder, disposal)
  return {
    name: "shared-disposal",
    resolveId: (source) => (source === id ? id : null),
    async load(source) {
      if (source !== id) return null
      return [...texts.values(), `export { ${[...texts.keys()].join(", ")} }`].join("\n")
    },
    transform(code, module) {
      if (module === id) return null
      const found = [...code.matchAll(helper)]
      if (found.length === 0) return null
      for (const [text, name = ""] of found) texts.set(name, text.replace(/\(this && this\.\w+\) \|\| /, ""))
      const names = found.map(([, name]) => name)
      return {
        code: `import { ${names.join(", ")} } from ${JSON.stringify(id)}\n${code.replace(helper, "")}`,
        map: null,
      }
    },
  }
}

// A name that a builtin module does not have yet is undefined in its namespace, and an error as a named import.
function builtinsAsNamespaces(): Plugin {
  return {
    name: "builtins-as-namespaces",
    renderChunk(code) {
      let count = 0
      const rewritten = code.replace(
        /^import (?:([\w$]+), )?\{ (.*) \} from '(node:[\w/]+)';$/gm,
        (_, whole: string | undefined, names: string, module: string) => {
          const namespace = `builtin$${++count}`
          const first = whole ? `import ${whole}, * as` : "import * as"
          return `${first} ${namespace} from '${module}';const { ${names.replaceAll(" as ", ": ")} } = ${namespace};`
        },
      )
      return { code: rewritten, map: null }
    },
  }
}

const check = "node-version.js"

/** Puts the check of Node's version before everything else that the entries load. */
export function checkNodeFirst(folder: string, entries: readonly string[], needed: number): void {
  writeFileSync(join(folder, check), checkText(needed))
  for (const entry of entries) {
    const file = join(folder, `${entry}.js`)
    const path = relative(join(file, ".."), join(folder, check))
    const text = readFileSync(file, "utf8")
    // The command checks by itself, in a sentence without a stack.
    if (text.startsWith("#!")) continue
    writeFileSync(file, `import ${JSON.stringify(path.startsWith(".") ? path : `./${path}`)};\n${text}`)
  }
}

function checkText(needed: number): string {
  return `if (Number(process.versions.node.split(".")[0]) < ${needed}) {
  throw new Error(
    \`Karst needs Node ${needed} or newer; this is \${process.version}. Install Node ${needed} from https://nodejs.org and start the program with it.\`,
  )
}
`
}
