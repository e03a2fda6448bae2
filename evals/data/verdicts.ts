// Answers in words, such as "normal" or "significant": the program prints numbers, and the text of the question says
// which word they mean.
import type { Derived, Reading } from "./derive-plan.ts"
import type { Computed, Value } from "./plan.ts"
import type { AnswerField } from "./questions.ts"

/** The rule for an answer that is one of some words; undefined if the answer is not, or if no rule reads the text. */
export function deriveVerdict({ key, placeholder }: AnswerField, reading: Reading): Derived | undefined {
  const name = key.replaceAll("_", " ").toLowerCase()
  if (/p.?value|coefficient|count/.test(name)) return undefined
  const options = optionsOf(key, placeholder, reading.question.format)
  if (!options) return undefined
  const { text, rows, pair, named } = reading
  const [yes, no] = options
  const [column] = named
  if (/normal/.test(name) || /distribution/.test(name)) {
    const limit = /(?:skewness is between -|absolute value of skewness is less than )(\d*\.\d+)/.exec(text)?.[1]
    if (!column) return undefined
    if (limit !== undefined) {
      const statistic = /scipy|fisher-pearson/.test(text) ? "populationSkewness" : "skewness"
      const value: Value = { type: "statistic", statistic, column, rows }
      return verdict(key, [{ name: "skewness", decimals: 2, value }], ([skew = NaN]) =>
        Math.abs(skew) < Number(limit) ? yes : no,
      )
    }
    if (!/normaltest/.test(text)) return undefined
    const value: Value = { type: "normal test", column, rows }
    return verdict(key, [{ name: "p", decimals: 4, value }], ([p = NaN]) => (p > 0.05 ? yes : no))
  }
  if (!pair) return undefined
  const r: Computed = { name: "r", decimals: 2, value: { type: "correlation", columns: pair, part: "r", rows } }
  const p: Computed = { name: "p", decimals: 4, value: { type: "correlation", columns: pair, part: "p", rows } }
  const alpha = Number(
    /alpha\) of (\d*\.\d+)|p-value is less than (\d*\.\d+)/.exec(text)?.slice(1).find(Boolean) ?? 0.05,
  )
  if (/signific/.test(name)) return verdict(key, [p], ([value = NaN]) => (value < alpha ? yes : no))
  const limit = Number(/\br (?:value )?is greater than or equal to (\d*\.\d+)/.exec(text)?.[1] ?? NaN)
  if (/relationship/.test(name) && options.includes("linear") && options.includes("nonlinear")) {
    return verdict(key, [r, p], ([rv = NaN, pv = NaN]) => {
      if (!(pv < alpha)) return "none"
      return Math.abs(rv) >= limit ? "linear" : "nonlinear"
    })
  }
  if (/relationship/.test(name) && options.includes("positive") && Number.isFinite(limit)) {
    const needsP = /p-value/.test(text)
    return verdict(key, needsP ? [r, p] : [r], ([rv = NaN, pv = 0]) => {
      if (pv >= alpha || Math.abs(rv) < limit) return "none"
      return rv > 0 ? "positive" : "negative"
    })
  }
  const least = Number(/r-squared is equal to or greater than (\d*\.\d+)/.exec(text)?.[1] ?? NaN)
  if (/fit/.test(name) && Number.isFinite(least)) {
    const r2: Computed = { name: "r2", decimals: 2, value: { type: "correlation", columns: pair, part: "r2", rows } }
    return verdict(key, [r2], ([value = NaN]) => (value >= least ? yes : no))
  }
  return undefined
}

function verdict(key: string, values: Computed[], word: (numbers: number[]) => string): Derived {
  const text = (printed: ReadonlyMap<string, string>) => word(values.map(({ name }) => Number(printed.get(name))))
  return { values, answer: { key, text } }
}

/** The words that an answer can be, the positive one first: quoted in the format, or True and False. */
function optionsOf(key: string, placeholder: string, format: string): [string, string, ...string[]] | undefined {
  const about = format.slice(format.lastIndexOf(`"${placeholder}"`) + placeholder.length + 2)
  const clause = about.split(/\. where|\nwhere/)[0] ?? ""
  if (/boolean/.test(clause) || format.includes(`@${key}[True]`)) {
    return /\(true\)/.test(clause) ? ["true", "false"] : ["True", "False"]
  }
  const quoted = [...clause.matchAll(/["'‘“]([A-Za-z][\w -]*)["'’”]/g)].map(([, word = ""]) => word)
  const [yes, no, ...others] = quoted
  return yes !== undefined && no !== undefined && /string/.test(clause) ? [yes, no, ...others] : undefined
}
