import type { NameChanges } from "../../core/event.ts"
import type { Binding } from "../bindings.ts"
import type { Execution, Name, NotExecuted, TypeGateMode } from "../runtime.ts"
import { CellSyntaxError, type ParsedCell, parseCell } from "../syntax.ts"
import { createTypeGate } from "../type-gate.ts"

/** The type gate of a runtime whose values are in another process: its declarations alone decide. */
export interface RemoteGate {
  /** Runs a cell that passes, and adds to its execution what the model should be told. */
  pass(code: string, mode: TypeGateMode | undefined, run: () => Promise<Execution>): Promise<Execution>
}

export interface RemoteNames {
  describe(): Promise<string>
  names(): Promise<readonly Name[]>
  /** What was injected, as it was given. */
  bindings: ReadonlyMap<string, Binding>
  ambient: ReadonlySet<string>
}

export function createRemoteGate(remote: RemoteNames): RemoteGate {
  const gate = createTypeGate()
  // Stands for the value of a name: another one each time a cell has changed it.
  const versions = new Map<string, object>()

  const note = ({ created, reassigned, removed }: NameChanges) => {
    for (const name of [...created, ...reassigned]) versions.set(name, {})
    for (const name of removed) versions.delete(name)
  }

  const valuesNow = async (): Promise<Map<string, unknown>> => {
    const names = await remote.names()
    for (const { name } of names) if (!versions.has(name)) versions.set(name, {})
    return new Map(names.map(({ name }) => [name, versions.get(name)]))
  }

  return {
    async pass(code, mode = "off", run) {
      const cell = mode === "off" ? undefined : parsed(code)
      if (!cell) {
        const execution = await run()
        note(execution.changes)
        return execution
      }
      await gate.open()
      // Of data that crossed, only what its author said is certain.
      const guessed = [...remote.bindings].flatMap(([name, binding]) =>
        binding.kind === "variable" && binding.type === undefined ? [name] : [],
      )
      const verdict = gate.check(cell, mode, {
        declarations: await remote.describe(),
        guessed: new Set(guessed),
        values: await valuesNow(),
        live: false,
        ambient: remote.ambient,
      })
      if (verdict.error) return refused(verdict.error)
      const execution = await run()
      note(execution.changes)
      // A process that was started again has only what was injected.
      if (execution.lost) versions.clear()
      else verdict.remember(await valuesNow())
      const isTold = mode === "hint" || !execution.ok
      return isTold && verdict.hints.length > 0 ? { ...execution, hints: verdict.hints } : execution
    },
  }
}

/** What is no TypeScript is told where it is compiled. */
function parsed(code: string): ParsedCell | undefined {
  try {
    return parseCell(code)
  } catch (error) {
    if (error instanceof CellSyntaxError) return undefined
    throw error
  }
}

function refused(error: NotExecuted["error"]): NotExecuted {
  const changes = { created: [], reassigned: [], removed: [] }
  return { ok: false, error, stdout: "", stderr: "", output: "", durationMs: 0, changes }
}
