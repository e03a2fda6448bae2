// Writes values in TOML syntax.
export type Toml = string | number | boolean | readonly Toml[] | { readonly [key: string]: Toml }

/** Formats a value on one line. */
export function tomlValue(value: Toml): string {
  // TOML strings escape like JSON strings, except that DEL must be escaped too.
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007F")
  if (typeof value !== "object") return String(value)
  if (isList(value)) return `[${value.map(tomlValue).join(", ")}]`
  const entries = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)} = ${tomlValue(each)}`)
  return `{ ${entries.join(", ")} }`
}

function isList(value: Toml): value is readonly Toml[] {
  return Array.isArray(value)
}
