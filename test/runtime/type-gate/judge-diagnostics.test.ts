// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import { parseCell } from "../../../src/runtime/compiler/parse-cell.ts"
import { createCellHistory } from "../../../src/runtime/type-gate/cell-history.ts"
import { parseHostNames } from "../../../src/runtime/type-gate/host-names.ts"
import { judgeDiagnostics } from "../../../src/runtime/type-gate/judge-diagnostics.ts"
import { sharedTypeChecker } from "../../../src/runtime/type-gate/typescript-checker.ts"
import { requires } from "../../system.ts"

const declarations = `declare function load(id: number): Promise<{ name: string }>
declare const list: { name: string }[]
declare const store: { find(id: number): { name: string }; size: number } & { label: string }
declare function save(input: { id: number }): Promise<void>
declare let either: { a: number } | { b: number }`

/** Cells; true if the cell must be refused. */
const cells: [string, boolean][] = [
  ["lod(1)", true],
  ["const shorthand = { lod }", true],
  ["require('x')", false],
  ["document.title", true],
  ["load(1).name", true],
  ["const { nam } = await load(1)", true],
  ["list.map(({ nam }) => nam)", true],
  ["load(1) + 1", true],
  ["for (const each of load(1)) each", true],
  ["load(list)", false],
  ["load('1')", true],
  ["load(load(1))", true],
  ["load()", true],
  ["list.length()", true],
  ["store.fnd(1)", true],
  ["store.find()", true],
  ["store.labl.length", true],
  ["save({})", true],
  ["save({ id: 1, more: 2 })", true],
  ["either.c", false],
  ["store.find(1).name", false],
]

test("findings are judged by their codes and by types, not by their messages", {
  skip: requires("typescript") ?? false,
}, async () => {
  const checker = await sharedTypeChecker()
  const host = parseHostNames(declarations)
  const ambient = ["console", "require"]
  const known = {
    host,
    cellNames: new Map(),
    names: new Set([...host.keys(), ...ambient]),
    history: createCellHistory(),
    values: new Map(),
    promiseMethods: new Map(),
  }
  for (const [code, isRefused] of cells) {
    const text = `${code}\n;import { ${[...host.keys()].join(", ")} } from "./host"\nexport {}`
    const checked = checker.check(text, declarations.replaceAll(/^declare/gm, "export declare"))
    const found = checked.diagnostics.filter(({ end }) => end <= code.length)
    const unread = found.map((each) => ({ ...each, message: "?" }))
    const { blocked } = judgeDiagnostics(parseCell(code), { ...checked, diagnostics: unread }, known)
    assert.equal(blocked.length > 0, isRefused, `${code}: ${found.map((each) => `${each.code} ${each.message}`)}`)
  }
})
