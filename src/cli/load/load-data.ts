// Loads data files as variables.
import { basename, extname } from "node:path"
import { readDataFile } from "../../core/data-files/read-data-file.ts"
import { ConfigError } from "../../core/errors.ts"
import { safeLine } from "../../display/safe-text.ts"
import { nameProblem } from "../../runtime/bindings/binding-names.ts"
import { type Bindings, variable } from "../../runtime/bindings.ts"
import { finishName } from "../../runtime/finish-text.ts"
import { printToErrors } from "../print-text.ts"
import { UsageError } from "../usage-error.ts"

/** Reads files into variables named after them. Throws a usage error for a file that cannot be read as data. */
export async function loadData(paths: readonly string[]): Promise<Bindings> {
  const variables = new Map<string, unknown>()
  for (const path of paths) {
    const file = basename(path)
    const value = await readData(path)
    const name = freshName(variableName(file), variables)
    const size = Array.isArray(value)
      ? `${value.length} ${value.length === 1 ? "record" : "records"} from ${file}`
      : `read from ${file}`
    variables.set(name, variable(value, safeLine(size)))
    printToErrors(`${name}: ${safeLine(size)}`)
  }
  return Object.fromEntries(variables)
}

/** Turns a file name into an identifier: `sales 2024-q1.csv` becomes `sales2024Q1`. */
export function variableName(file: string): string {
  const [first = "data", ...rest] = basename(file, extname(file)).match(/[\p{L}\p{N}_$]+/gu) ?? []
  const name = first + rest.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("")
  return nameProblem(name, platformNames) ? `_${name}` : name
}

const platformNames = new Set([...Object.getOwnPropertyNames(globalThis), finishName])

// Larger data, as objects, would need more memory than Node has by default.
const maxDataBytes = 100_000_000

async function readData(path: string): Promise<unknown> {
  return await readDataFile(path, maxDataBytes).catch((error: unknown) => {
    throw error instanceof ConfigError ? new UsageError(`--data ${error.message}`) : error
  })
}

function freshName(name: string, taken: Map<string, unknown>): string {
  let fresh = name
  for (let count = 2; taken.has(fresh); count++) fresh = `${name}${count}`
  return fresh
}
