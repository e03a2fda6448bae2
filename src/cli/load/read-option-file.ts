// Reads a file that an option names.
import { readRegularFile } from "../../core/read-regular-file.ts"
import { UsageError } from "../usage-error.ts"

/** `option` is how the command line names the file, as in `--system @`. */
export async function readOptionFile(option: string, path: string, maxBytes: number): Promise<Buffer> {
  const found = await readRegularFile(path, maxBytes)
  if ("problem" in found) throw new UsageError(`${option}${path} ${found.problem}.`)
  return found.bytes
}
