// Writes a plan as a cell of Python over `table`, a DataFrame.
import type { Computed, Condition, Formula, Outliers, Plan, Rows, Statistic } from "./plan.ts"
import type { Column } from "./tables.ts"

export function writePython({ derived, values }: Plan): string {
  const program: Program = { lines: [], sources: new Map() }
  const base = derived ? "rows" : "table"
  if (derived) program.lines.push(`rows = table.assign(${derived.name}=${formulaText(derived.formula)})`)
  const prints = values.map((computed) => printText(computed, (rows) => rowsText(rows, base, program)))
  return [...program.lines, ...prints].join("\n")
}

interface Program {
  lines: string[]
  sources: Map<string, string>
}

const methods: Record<Exclude<Statistic, "range">, string> = {
  mean: ".mean()",
  median: ".median()",
  std: ".std()",
  populationStd: ".std(ddof=0)",
  min: ".min()",
  max: ".max()",
  skewness: ".skew()",
  populationSkewness: "",
  kurtosis: "",
}

function printText({ name, decimals, value }: Computed, source: (rows: Rows) => string): string {
  const print = (text: string) =>
    `print(${JSON.stringify(name)}, ${decimals < 0 ? text : `round(${text}, ${decimals})`})`
  switch (value.type) {
    case "statistic": {
      const series = seriesText(source(value.rows), value.column)
      if (value.statistic === "range") return print(`${series}.max() - ${series}.min()`)
      if (value.statistic === "populationSkewness") return print(`stats.skew(${series}.dropna())`)
      if (value.statistic === "kurtosis") return print(`stats.kurtosis(${series}.dropna())`)
      return print(`${series}${methods[value.statistic]}`)
    }
    case "correlation": {
      const rows = source(value.rows)
      const [x = "", y = ""] = value.columns.map((column) => seriesText(rows, column))
      if (value.part === "p") return print(`stats.pearsonr(*pd.concat([${x}, ${y}], axis=1).dropna().values.T)[1]`)
      return print(`${x}.corr(${y})${value.part === "r2" ? " ** 2" : ""}`)
    }
    case "normal test":
      return print(`stats.normaltest(${seriesText(source(value.rows), value.column)}.dropna())[1]`)
    case "missing": {
      const empty = `table${member(value.column)}.isna()`
      return print(value.as === "count" ? `${empty}.sum()` : `${empty}.mean() * 100`)
    }
    case "count":
      return print(`len(${source(value.rows)})`)
    case "row value": {
      const rows = source(value.rows)
      const place = `${seriesText(rows, value.by)}.${value.at === "highest" ? "idxmax" : "idxmin"}()`
      return print(`${rows}.loc[${place}, ${JSON.stringify(value.column.name)}]`)
    }
    case "most missing":
      return print("table.isna().sum().idxmax()")
  }
}

function rowsText({ conditions, outliers }: Rows, base: string, { lines, sources }: Program): string {
  const filtered =
    conditions.length === 0
      ? base
      : variable(`${base}[${conditions.map((each) => conditionText(base, each)).join(" & ")}]`)
  if (!outliers) return filtered
  const series = variable(seriesText(filtered, outliers.column))
  const [low, high] = bounds(series, outliers)
  const inside = `(${series} < ${low}) | (${series} > ${high})`
  return variable(`${filtered}[${outliers.keep === "outliers" ? inside : `~(${inside})`}]`)

  function variable(text: string): string {
    const known = sources.get(text)
    if (known !== undefined) return known
    const name = `part${sources.size + 1}`
    lines.push(`${name} = ${text}`)
    sources.set(text, name)
    return name
  }

  function bounds(values: string, { method, populationStd }: Outliers): [string, string] {
    const key = `bounds of ${values}`
    const name = sources.get(key) ?? `bounds${sources.size + 1}`
    if (!sources.has(key)) {
      sources.set(key, name)
      if (method === "iqr") {
        lines.push(`${name} = ${values}.quantile([0.25, 0.75]).values`)
      } else {
        const deviation = `${values}.std(${populationStd ? "ddof=0" : ""})`
        lines.push(`${name} = ${values}.mean(), ${deviation}`)
      }
    }
    if (method === "z") return [`${name}[0] - 3 * ${name}[1]`, `${name}[0] + 3 * ${name}[1]`]
    return [`2.5 * ${name}[0] - 1.5 * ${name}[1]`, `2.5 * ${name}[1] - 1.5 * ${name}[0]`]
  }
}

function conditionText(rows: string, { column, is, value }: Condition): string {
  return `(${rows}${member(column)} ${is === "=" ? "==" : is} ${JSON.stringify(value)})`
}

function formulaText(formula: Formula): string {
  if (formula.type === "log10") return `np.log10(${seriesText("table", formula.column)})`
  const [a, b, c] = formula.columns.map((column) => seriesText("table", column))
  switch (formula.type) {
    case "sum":
      return formula.columns.map((column) => seriesText("table", column)).join(" + ")
    case "difference":
      return `${a} - ${b}`
    case "ratio":
      return `${a} / ${b}`
    case "difference ratio":
      return `(${a} - ${b}) / ${c}`
  }
}

function seriesText(rows: string, column: Column): string {
  const series = `${rows}${member(column)}`
  if (column.type === "number") return series
  return `${series}.str.replace(",", "").str.extract(r"^\\s*([-+]?[\\d.]+)")[0].astype(float)`
}

function member({ name }: Pick<Column, "name">): string {
  return `[${JSON.stringify(name)}]`
}
