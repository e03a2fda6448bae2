// Creates the private temporary folder of a kernel.
import { mkdir, mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The folder holds the sockets, the working folder and temporary files. Only this user can read it. */
export async function createKernelFolder(): Promise<string> {
  // The path of a Unix socket has at most about a hundred characters.
  const parent = tmpdir().length > 60 ? "/tmp" : tmpdir()
  const folder = await mkdtemp(join(parent, "karst-"))
  for (const part of ["work", "tmp", "shm"]) await mkdir(join(folder, part))
  return folder
}
