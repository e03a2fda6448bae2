// Parses CSV text (RFC 4180, and files with semicolons or tabs).
export type CsvValue = string | number | boolean | null

export type CsvRow = Record<string, CsvValue>

/** Returns a record per line below the header. An empty cell is null, a quoted empty one an empty text. A column of
 *  only numbers or only booleans is converted; any other column stays text. What can be an identifier stays text:
 *  leading zeros, a plus sign, whole numbers of more than 15 digits. Without a delimiter it is the one that the header
 *  has: a comma, or else a semicolon or a tab. */
export function parseCsv(text: string, delimiter?: string): CsvRow[] {
  const content = text.replace(/^\ufeff/, "")
  const [header, ...rows] = parseRows(content, delimiter ?? findDelimiter(content))
  if (!header) return []
  const names = columnNames(header.cells)
  for (const { cells, line } of rows) {
    if (cells.length > names.length) {
      throw new SyntaxError(`line ${line} has ${cells.length} fields, but the header names ${names.length}`)
    }
  }
  const columns = names.map((_, index) => typedColumn(rows.map(({ cells }) => cells[index] ?? null)))
  return rows.map((_, row) => Object.fromEntries(names.map((name, index) => [name, columns[index]?.[row] ?? null])))
}

function findDelimiter(text: string): string {
  const [firstLine = ""] = text.split(/[\r\n]/, 1)
  const outsideQuotes = firstLine.replace(/"[^"]*"/g, "")
  return [",", ";", "\t"].find((delimiter) => outsideQuotes.includes(delimiter)) ?? ","
}

interface RawRow {
  cells: (string | null)[]
  line: number
}

// One field and its end: quoted, with "" for a quote, or plain up to the next delimiter or line end.
function parseRows(text: string, delimiter: string): RawRow[] {
  const field = new RegExp(
    `(?:"([^"]*(?:""[^"]*)*)"|([^"${delimiter}\\r\\n][^${delimiter}\\r\\n]*)?)(${delimiter}|\\r\\n|\\n|\\r|$)`,
    "y",
  )
  const rows: RawRow[] = []
  let cells: RawRow["cells"] = []
  let line = 1
  let rowLine = 1
  while (field.lastIndex < text.length || cells.length > 0) {
    const start = field.lastIndex
    const match = field.exec(text)
    if (!match) throw new SyntaxError(fieldError(text, start, line))
    const [whole, quoted, plain, end] = match
    cells.push(quoted === undefined ? (plain ?? null) : quoted.replaceAll('""', '"'))
    line += whole.match(/\r\n|\n|\r/g)?.length ?? 0
    if (end === delimiter) continue
    // Skips empty lines, but not lines with a quoted empty field.
    if (cells.length > 1 || cells[0] !== null) rows.push({ cells, line: rowLine })
    cells = []
    rowLine = line
    if (end === "") break
  }
  return rows
}

function fieldError(text: string, start: number, line: number): string {
  const closed = /^"[^"]*(?:""[^"]*)*"/.test(text.slice(start))
  return closed
    ? `line ${line} has text after a closing quote (write a quote inside a quoted field twice)`
    : `the quote that opens on line ${line} is never closed`
}

function columnNames(header: RawRow["cells"]): string[] {
  const names = new Set<string>()
  const counts = new Map<string, number>()
  header.forEach((cell, index) => {
    const name = cell?.trim() || `column_${index + 1}`
    let unique = name
    for (let count = counts.get(name) ?? 2; names.has(unique); count++) {
      unique = `${name}_${count}`
      counts.set(name, count + 1)
    }
    names.add(unique)
  })
  return [...names]
}

function typedColumn(cells: RawRow["cells"]): CsvValue[] {
  const filled = cells.filter((cell): cell is string => cell !== null && cell !== "")
  if (filled.length === 0) return cells
  if (filled.every(isNumber)) return cells.map((cell) => (cell ? Number(cell) : null))
  if (filled.every((cell) => /^(?:true|false)$/i.test(cell))) {
    return cells.map((cell) => (cell ? cell.toLowerCase() === "true" : null))
  }
  return cells
}

function isNumber(cell: string): boolean {
  const form = /^-?(0|[1-9]\d*)?(?:\.(\d*))?(?:[eE][+-]?\d+)?$/.exec(cell.trim())
  const [, whole = "", fraction = ""] = form ?? []
  return whole + fraction !== "" && whole.length <= 15 && Number.isFinite(Number(cell))
}
