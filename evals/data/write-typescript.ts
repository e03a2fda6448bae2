// Writes a plan as a cell of TypeScript over `table`, an array of records.
import type { Computed, Condition, Formula, Outliers, Plan, Rows } from "./plan.ts"
import type { Column } from "./tables.ts"

export function writeTypeScript({ derived, values }: Plan): string {
  const program = { lines: [] as string[], sources: new Map<string, string>() }
  const base = derived ? "rows" : "table"
  if (derived) {
    const member = /^[A-Za-z_$][\w$]*$/.test(derived.name) ? derived.name : JSON.stringify(derived.name)
    program.lines.push(`const rows = table.map((row) => ({ ...row, ${member}: ${formulaText(derived.formula)} }))`)
  }
  const prints = values.map((computed) => printText(computed, (rows) => rowsText(rows, base, program)))
  return [...program.lines, ...prints].join("\n")
}

interface Program {
  lines: string[]
  /** The variables that have the rows of a selection. */
  sources: Map<string, string>
}

function printText({ name, decimals, value }: Computed, source: (rows: Rows) => string): string {
  const print = (text: string) =>
    `console.log(${JSON.stringify(name)}, ${decimals < 0 ? text : `stats.round(${text}, ${decimals})`})`
  switch (value.type) {
    case "statistic": {
      const list = listText(source(value.rows), value.column)
      if (value.statistic === "range") return print(`stats.max(${list}) - stats.min(${list})`)
      return print(`stats.${value.statistic}(${list})`)
    }
    case "correlation": {
      const rows = source(value.rows)
      const [x, y] = value.columns.map((column) => listText(rows, column))
      const member = value.part === "r2" ? "r ** 2" : value.part
      return print(`stats.pearson(${x}, ${y}).${member}`)
    }
    case "normal test":
      return print(`stats.normalTest(${listText(source(value.rows), value.column)})`)
    case "missing": {
      const count = `table.filter((row) => ${cellText(value.column)} === null).length`
      return print(value.as === "count" ? count : `(100 * ${count}) / table.length`)
    }
    case "count":
      return print(`${source(value.rows)}.length`)
    case "row value": {
      const by = numberText(value.by, value.at === "highest" ? "-Infinity" : "Infinity")
      const order = value.at === "highest" ? ">" : "<"
      const rows = source(value.rows)
      return print(
        `${rows}.reduce((best, row) => (${by} ${order} ${by.replace("row", "best")} ? row : best))${member(value.column)}`,
      )
    }
    case "most missing":
      return (
        "const missing = (name: string) => table.filter((row) => row[name] === null).length\n" +
        print("Object.keys(table[0]).sort((a, b) => missing(b) - missing(a))[0]")
      )
  }
}

/** The expression of the rows; rows with conditions get a variable of their own. */
function rowsText({ conditions, outliers }: Rows, base: string, { lines, sources }: Program): string {
  const filtered =
    conditions.length === 0 ? base : variable(`${base}.filter((row) => ${conditions.map(conditionText).join(" && ")})`)
  if (!outliers) return filtered
  const { column, keep } = outliers
  const bounds = variable(boundsText(filtered, outliers))
  const value = numberText(column)
  const isOutlier = `(${value} < ${bounds}.low || ${value} > ${bounds}.high)`
  return variable(`${filtered}.filter((row) => ${keep === "outliers" ? isOutlier : `!${isOutlier}`})`)

  function variable(text: string): string {
    const known = sources.get(text)
    if (known !== undefined) return known
    const name = `part${sources.size + 1}`
    lines.push(`const ${name} = ${text}`)
    sources.set(text, name)
    return name
  }
}

function boundsText(rows: string, { column, method, populationStd }: Outliers): string {
  const list = listText(rows, column)
  return method === "iqr" ? `stats.iqrBounds(${list})` : `stats.zBounds(${list}${populationStd ? ", true" : ""})`
}

function conditionText({ column, is, value }: Condition): string {
  const operator = is === "=" ? "===" : is
  return `${cellText(column)} ${operator} ${JSON.stringify(value)}`
}

function formulaText(formula: Formula): string {
  if (formula.type === "log10") return `Math.log10(${numberText(formula.column)})`
  const [a, b, c] = formula.columns.map((column) => numberText(column))
  switch (formula.type) {
    case "sum":
      return formula.columns.map((column) => numberText(column)).join(" + ")
    case "difference":
      return `${a} - ${b}`
    case "ratio":
      return `${a} / ${b}`
    case "difference ratio":
      return `(${a} - ${b}) / ${c}`
  }
}

function listText(rows: string, column: Column): string {
  return `${rows}.map((row) => ${column.type === "text" ? `stats.toNumber(${cellText(column)})` : cellText(column)})`
}

/** A number; `empty` where the cell is empty. */
function numberText(column: Column, empty = "NaN"): string {
  if (column.type === "text") return `(stats.toNumber(${cellText(column)}) ?? ${empty})`
  return column.hasNulls ? `(${cellText(column)} ?? ${empty})` : cellText(column)
}

function cellText({ name }: Column): string {
  return `row${member({ name })}`
}

function member({ name }: Pick<Column, "name">): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
}
