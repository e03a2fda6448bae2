// The suite `original`: Karst beside CaveAgent itself, on the same machine, where CaveAgent can be imported.
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Cell, Skipped, Suite } from "./harness/suite.ts"
import { type Findings, measureKarst } from "./original/measure-karst.ts"

export const original: Suite = {
  name: "original",
  about:
    "Karst and CaveAgent, each with a scripted model, on the same machine. CaveAgent runs if `KARST_CAVE_AGENT` names its " +
    "checkout and the Python of `KARST_PYTHON`, or else `python3`, has its packages; otherwise its column is empty. A " +
    "cell in process is TypeScript in Karst and Python in CaveAgent; the isolated runtimes compared are Jupyter " +
    "kernels in both, and the process runtime of Karst has no counterpart. Times move with the load of the machine.",
  async run({ signal, progress }) {
    const caveAgent = await measureCaveAgent(signal)
    const karst = await measureKarst(signal, (done, of) => progress(done, of, "measurements"))
    const failures = [
      ...errorsOf("Karst", karst),
      ...("findings" in caveAgent ? errorsOf("CaveAgent", caveAgent.findings) : []),
    ]
    const cave = "findings" in caveAgent ? caveAgent.findings : {}
    const names = Object.keys(rowNames)
    const failed = names.filter((name) => karst[name]?.error !== undefined)
    return {
      checks: [
        {
          what: "measurements of Karst that succeeded",
          passed: names.length - failed.length,
          of: names.length,
          failures,
        },
      ],
      sections: [
        {
          title: "Side by side",
          table: {
            columns: [{ name: "measurement" }, { name: "Karst" }, { name: "CaveAgent" }],
            rows: Object.entries(rowNames).map(([name, title]): Cell[] => [title, text(karst[name]), text(cave[name])]),
          },
        },
      ],
      tasks: names.map((name) => ({
        task: name,
        style: "side by side",
        verified: karst[name]?.error === undefined,
        karst: String(karst[name]?.value),
        caveAgent: String(cave[name]?.value ?? cave[name]?.error),
      })),
      ...("skipped" in caveAgent && { skipped: [caveAgent.skipped] }),
    }
  },
}

const rowNames: Record<string, string> = {
  cell_ms: "a small cell in process, ms",
  step_ms: "a step of the loop with a cell, ms",
  isolated_start_ms: "a kernel from nothing to its first result, ms",
  isolated_cell_ms: "a small cell in a kernel, ms",
  process_start_ms: "a process from nothing to its first result, ms",
  process_cell_ms: "a small cell in a process, ms",
  runtimes_are_separate: "two runtimes do not see each other's variables",
  large_output_is_shown: "the model sees a part of output above the limit",
  time_out_stops_cell: "a cell in a kernel stops at its time-out",
  chunks_do_not_matter: "code is found alike however the stream is cut",
}

/** Runs measure.py. Without CaveAgent, says what is missing. */
export async function measureCaveAgent(
  signal: AbortSignal,
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ findings: Findings } | { skipped: Skipped }> {
  const checkout = env.KARST_CAVE_AGENT
  const script = join(import.meta.dirname, "original/measure.py")
  const path = checkout === undefined ? env.PYTHONPATH : join(checkout, "src")
  try {
    const { stdout } = await promisify(execFile)(env.KARST_PYTHON ?? "python3", [script], {
      signal,
      env: { ...env, ...(path !== undefined && { PYTHONPATH: path }) },
      maxBuffer: 10_000_000,
    })
    const findings: Findings = JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}")
    return { findings }
  } catch (error) {
    signal.throwIfAborted()
    const reason = error instanceof Error ? (error.message.trim().split("\n").at(-1) ?? "") : String(error)
    return {
      skipped: { what: "CaveAgent", why: `it could not be imported: ${reason}; name its checkout in KARST_CAVE_AGENT` },
    }
  }
}

function errorsOf(of: string, findings: Findings): string[] {
  return Object.entries(findings).flatMap(([name, { error }]) =>
    error === undefined ? [] : [`${of}, ${name}: ${error}`],
  )
}

function text(finding: Findings[string] | undefined): string {
  if (finding === undefined) return ""
  if (finding.error !== undefined) return "not measured"
  if (typeof finding.value === "boolean") return finding.value ? "yes" : "no"
  const value = finding.value ?? NaN
  return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : 0 })
}
