import { readFile } from "node:fs/promises"
import { ConfigError } from "../../../core/errors.ts"

/** The setup code in a file. */
export async function readSetupFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8")
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError(`setup: "${file}" cannot be read (${reason}). Give another file, or the code itself.`, {
      cause,
    })
  }
}
