// Loads the configuration for commands, and asks in a terminal before a new or changed file is loaded.
import { createInterface } from "node:readline/promises"
import { type LoadedConfig, loadConfig } from "../config/load-config.ts"
import type { TrustQuestion } from "../config/trust.ts"
import { allowProjectPackages } from "../core/optional-package.ts"
import { safeLine } from "../display/safe-text.ts"

/** Loads the given file, or the configuration of the project and the user. */
export async function loadProjectConfig(file: string | undefined): Promise<LoadedConfig> {
  const isTerminal = process.stdin.isTTY && process.stderr.isTTY
  const loaded = await loadConfig({ config: file, confirm: isTerminal ? confirmTrust : undefined })
  allowPackagesOf(loaded)
  return loaded
}

/** Allows the packages of the project if its configuration file is trusted, as it is once it was loaded. */
export function allowPackagesOf({ files }: LoadedConfig): void {
  if (files.some(({ source, exists }) => source === "project" && exists)) allowProjectPackages()
}

async function confirmTrust({ file, reason, files }: TrustQuestion): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const others = files.filter((each) => each !== file)
  const imported = others.length > 0 ? `, and imports ${others.map(safeLine).join(", ")}` : ""
  try {
    const what = reason === "new" ? "is new to Karst" : "has changed since you trusted it"
    const answer = await lines.question(
      `The configuration ${safeLine(file)} ${what}. It can run code${imported}. Load it? [y/N] `,
    )
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
