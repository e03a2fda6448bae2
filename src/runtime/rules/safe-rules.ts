// safeRules(): the default rules for TypeScript cells.
import { builtinModules, isBuiltin } from "node:module"
import type { AnyNode } from "acorn"
import type { Declaration } from "../compiler/scope-analysis.ts"
import { isDataColumn } from "./data-column.ts"
import { createNamePaths } from "./name-paths.ts"
import { constructorPath, prototypePath } from "./path-names.ts"
import { attributeRule, functionRule, importRule, type Rule, type RuleContext } from "./rules.ts"
import type { CellFlow } from "./value-flow.ts"

/** Rules for code that a model wrote and that runs in your own process. They refuse processes, files, servers, threads,
 *  evaluated strings, and whatever ends, blocks or changes the host program. They allow computing, packages and network
 *  clients. They prevent accidents, not attacks: code that tries to escape is stopped only by isolation. */
export function safeRules(): Rule[] {
  return [
    importRule(
      [
        ...builtinModules.filter((name) => !harmlessModules.has(name.replace(/\/.*/, ""))),
        ...["./", "../", "/", "file:", "karst"],
        ...["cross-spawn", "execa", "fs-extra", "graceful-fs", "node-pty", "shelljs", "zx"],
      ],
      { description: "it reaches beyond this cell; use what you were given" },
    ),
    functionRule(["eval", "Function"], {
      description: "code made of text cannot be checked",
      except: "Function.prototype.toString",
    }),
    functionRule("process", {
      description: "it belongs to the program around this cell",
      except: harmlessProcessMembers,
    }),
    functionRule(["WebAssembly", "Atomics.wait"], { description: "nothing could interrupt it" }),
    attributeRule(["__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"], {
      description: "use Object.getPrototypeOf, Object.create or a class",
    }),
    constructorRule,
    builtinRule,
  ]
}

const harmlessModules = new Set(
  "assert buffer console crypto events path perf_hooks punycode querystring stream string_decoder timers url util zlib".split(
    " ",
  ),
)

// The import rule checks the modules that process.getBuiltinModule loads.
const harmlessProcessMembers =
  "arch cpuUsage cwd getBuiltinModule hrtime memoryUsage nextTick pid platform stderr stdout uptime version versions"
    .split(" ")
    .map((name) => `process.${name}`)

/** The constructor of any function is `Function`, which evaluates strings. A cell may compare a constructor, set it,
 *  read a static member of it, and use a data column of this name. It may not call, store or pass on a constructor. */
const constructorRule: Rule = {
  name: "constructor",
  *check(cell) {
    const flow = lazyCellFlow(cell)
    for (const { path, use, node } of cell.names) {
      if (!path.startsWith(constructorPath)) continue
      const whole = path === constructorPath && use !== "test" && use !== "write" && use !== "alias"
      const member = path.slice(constructorPath.length + 1).replace(/\..*/, "")
      if (!whole && !constructorEscapes.has(member)) continue
      if (whole && use === "value" && isDataColumn(node, flow())) continue
      yield cell.report(
        node,
        "a `constructor` may only be compared or asked for its name; name the class, use Object.getPrototypeOf, or turn a column of that name into text: String(row.constructor)",
      )
    }
  },
}

/** Created when the first `constructor` is read, which most cells never do. */
function lazyCellFlow(cell: RuleContext): () => CellFlow {
  let flow: CellFlow | undefined
  return () => {
    flow ??= createCellFlow(cell)
    return flow
  }
}

function createCellFlow({ scopes, walk }: RuleContext): CellFlow {
  const parents = new Map<AnyNode, AnyNode>()
  walk((node, parent) => {
    if (parent) parents.set(node, parent)
  })
  const declared = new Map<AnyNode, Declaration>()
  for (const { declaration } of scopes.references.values()) {
    if (declaration?.node) declared.set(declaration.node, declaration)
  }
  return {
    scopes,
    parentOf: (node) => parents.get(node),
    declarationOf: (name) => scopes.references.get(name)?.declaration ?? declared.get(name),
    key: createNamePaths(scopes).key,
  }
}

const constructorEscapes = new Set(["apply", "bind", "call", "get", "prototype", "value"])

/** Refuses changes of built-in objects, which the host shares. Assigning to the name itself only creates a variable. */
const builtinRule: Rule = {
  name: "builtin",
  *check(cell) {
    for (const { path, use, node } of cell.names) {
      if (use !== "write") continue
      const root = path.replace(/\..*/, "")
      const isShared = builtinNames.has(root)
        ? path !== root || node.type !== "Identifier"
        : isBuiltinModuleMember(cell, root, node)
      if (root !== prototypePath && !isShared) continue
      yield cell.report(node, `\`${path}\` is shared with the program around this cell and may not be changed`)
    }
  },
}

/** Returns true if a member of a built-in module is written, and not of a variable with the name of a module. */
function isBuiltinModuleMember({ scopes }: RuleContext, root: string, node: AnyNode): boolean {
  if (node.type === "Identifier" || !isBuiltin(`node:${root}`)) return false
  let object = node.type === "CallExpression" ? (node.arguments[0] ?? node) : node
  while (object.type === "MemberExpression") object = object.object
  return object.type !== "Identifier" || scopes.references.get(object)?.declaration !== undefined
}

// A lower-case name (`performance`) may be a variable of an earlier cell.
const builtinNames = new Set(Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z]/.test(name)))
