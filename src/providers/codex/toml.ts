export type Toml = string | number | boolean | readonly Toml[] | { readonly [key: string]: Toml }

/** A value as TOML writes it on one line. */
export function tomlValue(value: Toml): string {
  // A basic string of TOML escapes as JSON does; DEL is the one character that only TOML wants escaped.
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007F")
  if (typeof value !== "object") return String(value)
  if (isList(value)) return `[${value.map(tomlValue).join(", ")}]`
  const entries = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)} = ${tomlValue(each)}`)
  return `{ ${entries.join(", ")} }`
}

function isList(value: Toml): value is readonly Toml[] {
  return Array.isArray(value)
}
