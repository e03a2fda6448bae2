// Reads the file of setup code that runs whenever a kernel starts.
import { readFile } from "node:fs/promises"
import { ConfigError } from "../../../core/errors.ts"

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
