// Finds the line of a key in the text of a configuration file, for error messages and for the origins of values.
import { attempt } from "../core/attempt.ts"
import type { AnyNode } from "../runtime/compiler/parse-cell.ts"
import { positionAt } from "../runtime/compiler/text-positions.ts"
import { parseTypeScript } from "../runtime/compiler/typescript-parser.ts"

/** Returns the line of a key such as `models.fast.id`, or of the nearest key around it; undefined if the text does not
 *  show it, for example because another module makes the value. */
export type LineOfKey = (path: string) => number | undefined

/** Reads the object of the configuration in a JSON or TypeScript text: the default export, directly, as the argument
 *  of `defineConfig`, or by the name of a constant. */
export function lineOfKey(source: string, kind: "json" | "module"): LineOfKey {
  const prefix = kind === "json" ? "export default " : ""
  const program = attempt(() => parseTypeScript(prefix + source))
  if (!program) return () => undefined
  const constants = constantsOf(program)
  const root = program.body.map((node) => exportedValue(node)).find((node) => node !== undefined)
  return (path) => {
    const offset = root && offsetOf(root, path, constants)
    return offset === undefined ? undefined : positionAt(source, Math.max(0, offset - prefix.length)).line
  }
}

type Constants = ReadonlyMap<string, AnyNode>

/** The values of top-level variables, by name. */
function constantsOf(program: { body: readonly AnyNode[] }): Constants {
  const values = new Map<string, AnyNode>()
  for (const statement of program.body) {
    const node = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
    if (node?.type !== "VariableDeclaration") continue
    for (const { id, init } of node.declarations) if (id.type === "Identifier" && init) values.set(id.name, init)
  }
  return values
}

function exportedValue(node: AnyNode): AnyNode | undefined {
  if (node.type === "ExportDefaultDeclaration") return node.declaration
  // `module.exports = { … }`
  if (node.type !== "ExpressionStatement" || node.expression.type !== "AssignmentExpression") return undefined
  const { left, right } = node.expression
  const isExports = left.type === "MemberExpression" && left.property.type === "Identifier"
  return isExports && left.property.type === "Identifier" && left.property.name === "exports" ? right : undefined
}

function offsetOf(root: AnyNode, path: string, constants: Constants): number | undefined {
  let node: AnyNode | undefined = root
  let offset: number | undefined
  let rest = path
  while (rest !== "") {
    const entry: KeyEntry | undefined = node && findEntry(literalOf(node, constants), rest)
    if (!entry) return offset
    offset = entry.offset
    node = entry.value
    rest = rest.slice(entry.length + 1)
  }
  return offset
}

interface KeyEntry {
  offset: number
  value: AnyNode
  /** The length of the key in the path. Keys may contain dots. */
  length: number
}

function findEntry(node: AnyNode, path: string): KeyEntry | undefined {
  const entries = entriesOf(node).filter(([key]) => path === key || path.startsWith(`${key}.`))
  const [longest] = entries.toSorted(([one], [other]) => other.length - one.length)
  return longest && { offset: longest[1].offset, value: longest[1].value, length: longest[0].length }
}

function entriesOf(node: AnyNode): [key: string, entry: { offset: number; value: AnyNode }][] {
  if (node.type === "ArrayExpression") {
    return node.elements.flatMap((each, index) =>
      each
        ? [[String(index), { offset: each.start, value: each }] as [string, { offset: number; value: AnyNode }]]
        : [],
    )
  }
  if (node.type !== "ObjectExpression") return []
  return node.properties.flatMap((each) => {
    if (each.type !== "Property" || each.computed) return []
    const key =
      each.key.type === "Identifier" ? each.key.name : each.key.type === "Literal" ? each.key.value : undefined
    return key === undefined ? [] : [[String(key), { offset: each.start, value: each.value }]]
  })
}

/** Follows constants, calls such as `defineConfig({ … })`, and types that are written around a value. */
function literalOf(node: AnyNode, constants: Constants): AnyNode {
  let value = node
  for (let steps = 0; steps < 20; steps++) {
    const next = innerValue(value, constants)
    if (!next) return value
    value = next
  }
  return value
}

function innerValue(node: AnyNode, constants: Constants): AnyNode | undefined {
  if (node.type === "Identifier") return constants.get(node.name)
  if (node.type === "CallExpression") return node.arguments[0]
  // `{ … } satisfies Config` and `{ … } as const` are nodes of the TypeScript plugin.
  return "expression" in node && typeof node.expression === "object" ? (node.expression as AnyNode) : undefined
}
