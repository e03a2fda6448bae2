// The suite `retail`: customer service tasks over a store, in four styles.
import { join } from "node:path"
import type { Check, Suite } from "./harness/suite.ts"
import { replay } from "./replay/replay.ts"
import { type StyleRecord, styleChecks, styleClaims, styleSections, tasksSection } from "./replay/style-report.ts"
import type { Style } from "./replay/task.ts"
import { playedStyles, playRetail } from "./retail/play-model.ts"
import { stateHash } from "./retail/state-hash.ts"
import { openStore } from "./retail/store.ts"
import { callStore } from "./retail/store-tools.ts"
import { type RetailData, readRetail } from "./retail/tasks.ts"
import { createWorld, retailPrint } from "./retail/world.ts"

export const styles: readonly Style[] = ["json-seq", "json-par", "code-full", "code-proj"]

const lengths = [
  { name: "0–2", from: 0, to: 2 },
  { name: "3–5", from: 3, to: 5 },
  { name: "6–8", from: 6, to: 8 },
  { name: "9 and more", from: 9, to: Infinity },
]

export const retail: Suite = {
  name: "retail",
  about:
    "Customer service tasks of tau2-bench over a store whose users, orders and products are live objects. The expected actions of each task are replayed in four styles. `json-seq`: one tool call in each answer. " +
    "`json-par`: independent calls of one dependency level in one answer (B depends on A if an argument of B occurs in " +
    "the result of A and not in what the user said, or if either writes; an argument occurs as a whole word, and the " +
    "decimal numbers in a sum count as arguments). `code-full`: the same groups as code, with the results printed " +
    "whole, as the very text of the tool call; a call that fails ends its cell. `code-proj`: the results stay in variables and a " +
    "projection is printed; there is one projection for each kind of record, and its code is paid for. The system " +
    "prompt has the store's policy, and all styles have the same opening, one confirmation before the first change, " +
    "the same closing, and declarations that were shortened in the same way. The policy asks for one call at a time; " +
    "`json-par` and code do not obey that line. Code also pays for the declarations of the records that calls return. " +
    "Tool calls are not charged for the built-in tools of Karst, which are left out; they are charged for the labels " +
    "that Karst puts before the results of parallel calls of one tool.",
  needs: ["tau2-retail"],
  modes: ["live", "hand"],
  playedStyles,
  async run(setup) {
    const { data, mode, maxTasks, progress, signal } = setup
    const retailData = await readRetail(join(data, "tau2-retail"))
    if (mode.type !== "oracle") return playRetail(retailData, mode, setup)
    const tasks = retailData.tasks.slice(0, maxTasks)
    const records: StyleRecord[] = []
    for (const [index, { id, endHash, conversation }] of tasks.entries()) {
      for (const style of styles) {
        signal.throwIfAborted()
        const world = () => createWorld(retailData, endHash)
        records.push(await replay(conversation, style, { ...printing, instructions: retailData.policy, world }))
      }
      progress(index + 1, tasks.length, `task ${id}`)
    }
    return {
      checks: [...provePort(retailData), ...styleChecks(records)],
      sections: [tasksSection(tasks.map(({ conversation }) => conversation)), ...styleSections(records, lengths)],
      tasks: records,
      skipped: retailData.skipped,
      claims: styleClaims(records, "json-seq"),
      claimsAgainstBest: styleClaims(records, "json-par"),
    }
  },
}

const printing = { print: retailPrint, capChars: 0 }

/** Compares the result of each expected action, and each end state, with those of the reference implementation. */
export function provePort({ database, baseHash, tasks }: RetailData): Check[] {
  const wrong: string[] = []
  const wrongStates: string[] = stateHash(openStore(database)) === baseHash ? [] : ["the initial state"]
  let actions = 0
  for (const task of tasks) {
    const store = openStore(database)
    for (const { name, arguments: input, result } of task.actions) {
      actions++
      const own = resultText(() => callStore(store, name, input))
      if (own !== result)
        wrong.push(`task ${task.id}, ${name}: ${own.slice(0, 100)} instead of ${result.slice(0, 100)}`)
    }
    if (stateHash(store) !== task.endHash) wrongStates.push(`task ${task.id}`)
  }
  return [
    check("port: result strings equal to the reference", wrong, actions),
    check(
      "port: hashes of states equal to the reference (the initial one, and one for each task)",
      wrongStates,
      tasks.length + 1,
    ),
  ]
}

function check(what: string, failures: string[], of: number): Check {
  const passed = of - failures.length
  return { what, passed, of, ...(failures.length > 0 && { failures: failures.slice(0, 5) }) }
}

function resultText(call: () => unknown): string {
  try {
    return String(call())
  } catch (error) {
    return `Error: ${error instanceof Error ? error.message : String(error)}`
  }
}
