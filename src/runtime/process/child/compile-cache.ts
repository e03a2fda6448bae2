// Writes Node's compile cache in a child, so that later children start faster.
import { accessSync, constants, readdirSync } from "node:fs"
import { flushCompileCache, getCompileCacheDir } from "node:module"
import { compileCell } from "../../compiler/compile-cell.ts"
import { parseCell } from "../../compiler/parse-cell.ts"

/** Called before the first cell. The cache includes the code that the first cell needs. Node would write it when the
 *  child exits, but children are killed. */
export function writeCompileCache(): void {
  const folder = getCompileCacheDir()
  if (folder === undefined) return
  // Source files change often, so their cache is always written. The cache of a build is written once.
  if (import.meta.url.endsWith(".ts")) return flushCompileCache()
  if (!isEmptyAndWritable(folder)) return
  compileSampleCell()
  flushCompileCache()
}

/** Compiles a typical cell, so that the cache includes the compiler. */
export function compileSampleCell(): void {
  const none: ReadonlySet<string> = new Set()
  compileCell(parseCell(sample), { filename: "sample.ts", known: none, constants: none, ambient: none })
}

function isEmptyAndWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return readdirSync(folder).length === 0
  } catch {
    return false
  }
}

// Uses most kinds of syntax, so that the cache includes the parser's functions for them.
const sample = `import { join } from "node:path"
interface Row { id: number; name?: string }
type Rows = readonly Row[]
class Table<T extends Row> { #rows: T[] = []; get size(): number { return this.#rows.length } add(row: T) { this.#rows.push(row) } }
const rows: Rows = [{ id: 1, name: \`row \${1}\` }, ...[2, 3].map((id) => ({ id }))]
let total = 0
for (const { id, name = "none" } of rows) { if (id > 1 && !name) continue; total += id }
for (let at = 0; at < 2; at++) total -= at
async function load(url: string, { times = 3 } = {}): Promise<unknown> {
  try { return await (await fetch(url)).json() } catch (error) { if (times > 0) return load(url, { times: times - 1 }); throw error }
}
const table = new Table<Row>()
table.add({ id: total as number })
console.log(rows.filter((row) => row.name?.startsWith("r") ?? false).length, /a+/g.test(join("a", "b")))
function* numbers() { yield 1 }
while (total < 0) total++
;({ total, all: [...numbers()] })`
