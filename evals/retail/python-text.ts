// Writes and rounds numbers, and writes JSON, as the reference implementation in Python does. All numbers of the store
// are floating point numbers there.

/** JSON as Python's `json.dumps` writes it. A Map is an object whose keys keep their order. */
export function pythonJson(value: unknown): string {
  if (value === null || value === undefined) return "null"
  if (typeof value === "number") return pythonFloat(value)
  if (typeof value === "string") return asciiString(value)
  if (typeof value !== "object") return String(value)
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(", ")}]`
  const entries = value instanceof Map ? [...value] : Object.entries(value)
  return `{${entries.map(([key, member]) => `${asciiString(key)}: ${pythonJson(member)}`).join(", ")}}`
}

/** The shortest text of a float: with a decimal point, or with an exponent of at least two digits. */
export function pythonFloat(value: number): string {
  if (Object.is(value, -0)) return "-0.0"
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf"
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e")
  const power = Number(exponent)
  if (power < -4 || power >= 16) {
    return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`
  }
  const digits = mantissa.replace("-", "").replace(".", "")
  const sign = value < 0 ? "-" : ""
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`
  return `${sign}${digits.slice(0, power + 1).padEnd(power + 1, "0")}.${digits.slice(power + 1) || "0"}`
}

/** Rounds the exact binary value to two decimals. A tie goes to the even digit. */
export function pythonRound(value: number): number {
  const size = Math.abs(value)
  // Only multiples of 1/8 can be exactly between two hundredths.
  const isTie = Number.isInteger(size * 8) && (size * 200) % 2 === 1
  const rounded = isTie ? (2 * Math.round((size * 100) / 2)) / 100 : Number(size.toFixed(2))
  return value < 0 || Object.is(value, -0) ? -rounded : rounded
}

function asciiString(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
}
