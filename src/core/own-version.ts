// The version of Karst, for the command and for the programs that Karst talks to.
import { readFileSync } from "node:fs"
import { attempt } from "./attempt.ts"

/** The version of Karst; "unknown" if a bundler left out package.json. */
export function ownVersion(): string {
  const file = new URL("../../package.json", import.meta.url)
  return attempt(() => String(JSON.parse(readFileSync(file, "utf8")).version)) ?? "unknown"
}
