// Benchmark: the disk space of `npm install karst`.
import { lstatSync } from "node:fs"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { installInto, pack } from "../scripts/pack.ts"
import { stats } from "./measure.ts"
import { budget, type Report } from "./report.ts"

/** What `npm install karst` puts on a disk, all dependencies included. */
export async function install(): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), "karst-install-"))
  try {
    const project = join(folder, "project")
    await installInto(project, [await pack(folder)])
    const karst = await megabytes(join(project, "node_modules"))
    await installInto(join(folder, "ai"), ["ai@7.0.169", "zod@4.6.7"])
    const ai = await megabytes(join(folder, "ai/node_modules"))
    const own = await megabytes(join(project, "node_modules/karst"))
    return {
      rows: [
        { what: "npm install karst", unit: "MB", ...stats([karst]), ratios: { "ai and zod": karst / ai } },
        { what: "of it, Karst itself", unit: "MB", ...stats([own]) },
        { what: "npm install ai@7.0.169 zod@4.6.7", unit: "MB", ...stats([ai]) },
      ],
      budgets: [budget("production install", 22, karst, "MB")],
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

// Space taken on the disk, as `du` counts it.
async function megabytes(folder: string): Promise<number> {
  let blocks = 0
  for (const entry of await readdir(folder, { recursive: true })) blocks += lstatSync(join(folder, entry)).blocks
  return (blocks * 512) / 2 ** 20
}
