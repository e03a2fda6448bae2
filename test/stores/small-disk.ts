import { execFileSync } from "node:child_process"
import { closeSync, fstatSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A disk with little room: where, how to leave none, and how to get rid of it. */
export function smallDisk(megabytes: number) {
  const folder = mkdtempSync(join(tmpdir(), "karst-disk-"))
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "none", folder])
  const filler = join(folder, "filler")
  return {
    folder,
    /** Leaves this many bytes free, in pages of 4096 bytes. */
    async fill(leave = 0) {
      const file = openSync(filler, "w")
      for (const size of [65_536, 4096]) while (written(file, Buffer.alloc(size)));
      ftruncateSync(file, fstatSync(file).size - leave)
      closeSync(file)
      return async () => rmSync(filler)
    },
    remove() {
      // A child that is just ending may still have files open there.
      execFileSync("umount", ["--lazy", folder])
      rmSync(folder, { recursive: true })
    },
  }
}

function written(file: number, bytes: Buffer): boolean {
  try {
    return writeSync(file, bytes) === bytes.length
  } catch {
    return false
  }
}
