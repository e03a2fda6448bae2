import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"

/** The answers and calls of a CLI for each prompt: see test/fixtures/actor.ts. */
export type CliPlan = Readonly<Record<string, readonly (string | { tool: string; input: object } | { fail: number })[]>>

/** A machine on which small programs replace Claude Code and Codex and follow a plan. */
export interface PlannedCliMachine extends AsyncDisposable {
  /** An empty folder to work in. */
  readonly cwd: string
  /** PATH, HOME and the plan. */
  readonly env: Readonly<Record<string, string>>
}

export async function createPlannedCliMachine(
  plan: CliPlan,
  installed = ["claude", "codex"],
): Promise<PlannedCliMachine> {
  const folder = await mkdtemp(join(tmpdir(), "karst-actors-"))
  const [bin, cwd] = [join(folder, "bin"), join(folder, "work")]
  for (const each of [bin, cwd]) await mkdir(each)
  for (const name of installed) {
    const script = `#!/bin/sh\nexec ${process.execPath} ${actor} ${name} "$@"\n`
    await writeFile(join(bin, name), script, { mode: 0o755 })
  }
  return {
    cwd,
    env: { PATH: [bin, "/usr/bin", "/bin"].join(delimiter), HOME: folder, ACTOR_PLAN: JSON.stringify(plan) },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

const actor = join(import.meta.dirname, "..", "fixtures", "actor.ts")
