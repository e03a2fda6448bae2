// Benchmark: the processor time of `import "karst"` in a new process.
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root, runTool } from "../scripts/tools.ts"
import { interleave, median, ratio, stats } from "./measure.ts"
import { peerFile } from "./peers.ts"
import { budget, type Report } from "./report.ts"

/** What it takes of the processor to import the built package into a fresh process, beyond what an empty one takes. On
 *  a machine with nothing else to do that is also how long it takes; on any other it is the same, and the time is
 *  not. */
export async function importTime(): Promise<Report> {
  if (runTool("../scripts/build.ts", []) !== 0) throw new Error("The build failed.")
  const ai = await peerFile("ai", "dist/index.js")
  const samples = await interleave(
    {
      empty: () => launch("--input-type=module", "-e", ""),
      karst: () => launch("--input-type=module", "-e", importing(join(root, "dist/index.js"))),
      ai: () => launch("--input-type=module", "-e", importing(ai)),
      help: () => launch(join(root, "dist/cli/bin.js"), "--help"),
    },
    { rounds: 20, warmups: 2 },
  )
  // Each round is compared with its own empty process, so that a slow moment cancels out.
  const beyond = (figures: number[]) => figures.map((figure, round) => figure - (samples.empty[round] ?? NaN))
  const karst = beyond(samples.karst)
  const help = stats(samples.help)
  return {
    rows: [
      { what: "an empty Node", unit: "ms", ...stats(samples.empty) },
      {
        what: 'import "karst", beyond it',
        unit: "ms",
        ...stats(karst),
        ratios: { ai: ratio(karst, beyond(samples.ai)) },
      },
      { what: 'import "ai" 7.0.169, beyond it', unit: "ms", ...stats(beyond(samples.ai)) },
      { what: "karst --help, all in all", unit: "ms", ...help },
    ],
    budgets: [budget('import "karst"', 60, median(karst), "ms"), budget("karst --help", 120, help.median, "ms")],
  }
}

function importing(file: string): string {
  return `import ${JSON.stringify(pathToFileURL(file).href)}`
}

function launch(...args: string[]): number {
  const { status, stderr } = spawnSync(process.execPath, ["--import", tellsUsage, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
  })
  if (status !== 0) throw new Error(stderr)
  return Number(stderr)
}

const tellsUsage = `data:text/javascript,${encodeURIComponent(`process.on("exit", () => {
  const { user, system } = process.cpuUsage()
  process.stderr.write(String((user + system) / 1000))
})`)}`
