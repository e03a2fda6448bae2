// Reads data files: CSV, TSV, JSON and JSON Lines.
import { extname } from "node:path"
import { ConfigError } from "../errors.ts"
import { isRecord } from "../object.ts"
import { readRegularFile } from "../read-regular-file.ts"
import { type CsvRow, parseCsv } from "./csv.ts"

/** Reads a `.csv`, `.tsv`, `.json`, `.jsonl` or `.ndjson` file as an array of records, ready to be injected. Of CSV and
 *  TSV files, a column of only numbers or only booleans is converted, and empty cells are null; whole numbers with
 *  leading zeros or more than 15 digits stay text. Name the type of a record if you know it: it is not checked. */
export async function readRows<Row extends object = CsvRow>(path: string): Promise<Row[]> {
  const value = await readDataFile(path)
  if (isListOfRecords<Row>(value)) return value
  throw new ConfigError(`readRows("${path}"): the file is not a list of records. Read it with JSON.parse.`)
}

function isListOfRecords<Row extends object>(value: unknown): value is Row[] {
  return Array.isArray(value) && value.every(isRecord)
}

// A longer text is more than one string of JavaScript can hold.
const maxTextBytes = 500_000_000

/** Reads the value of a data file. Throws a `ConfigError` with the path and the reason. */
export async function readDataFile(path: string, maxBytes = maxTextBytes): Promise<unknown> {
  const read = readers[extname(path).toLowerCase()]
  if (!read) throw new ConfigError(`${path}: only ${Object.keys(readers).join(", ")} files can be read.`)
  const found = await readRegularFile(path, maxBytes)
  if ("problem" in found) throw new ConfigError(`${path} ${found.problem}.`)
  try {
    return read(decode(found.bytes))
  } catch (error) {
    throw new ConfigError(`${path}: ${error instanceof Error ? error.message : String(error)}.`, { cause: error })
  }
}

const readers: Record<string, (text: string) => unknown> = {
  ".csv": (text) => parseCsv(text),
  ".tsv": (text) => parseCsv(text, "\t"),
  ".json": (text) => JSON.parse(text),
  ".jsonl": parseLines,
  ".ndjson": parseLines,
}

/** Decodes UTF-8, and UTF-16 if the file begins with its byte order mark. */
function decode(bytes: Buffer): string {
  const [first, second] = bytes
  const encoding = first === 0xff && second === 0xfe ? "utf-16le" : "utf-8"
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    throw new TypeError("it is not UTF-8 text. Save it as UTF-8, or convert it, as with `iconv -f latin1 -t utf-8`")
  }
}

function parseLines(text: string): unknown[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === "") return []
    try {
      return [JSON.parse(line)]
    } catch (error) {
      throw new SyntaxError(`line ${index + 1}: ${error instanceof Error ? error.message : String(error)}`)
    }
  })
}
