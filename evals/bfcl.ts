// The suite `bfcl`: multi-turn tasks with recorded results, in five styles.
import { join } from "node:path"
import { readBfcl } from "./bfcl/tasks.ts"
import { bfclPrint, createWorld } from "./bfcl/world.ts"
import type { Suite } from "./harness/suite.ts"
import { replay } from "./replay/replay.ts"
import { type StyleRecord, styleChecks, styleSections, tasksSection } from "./replay/style-report.ts"
import type { Style } from "./replay/task.ts"

const styles: readonly Style[] = ["json-seq", "json-par", "code-full", "code-proj", "code-cap"]

const lengths = [
  { name: "1–3", from: 0, to: 3 },
  { name: "4–6", from: 4, to: 6 },
  { name: "7–9", from: 7, to: 9 },
  { name: "10 and more", from: 10, to: Infinity },
]

const setup = {
  instructions:
    "You help the user with the functions of some services. Do what each message asks, then say what you did.",
  print: bfclPrint,
  capChars: 200,
}

export const bfcl: Suite = {
  name: "bfcl",
  about:
    "Multi-turn tasks of the Berkeley Function Calling Leaderboard (v4): file systems, trading, travel, cars, messages. " +
    "Each call returns its recorded result; a call that was not recorded fails the task. The styles are those of " +
    "`retail`. `code-proj` prints the fields that later calls take values from, and the whole result of the last call " +
    `of a turn. \`code-cap\` prints results whole, and Karst shows ${setup.capChars} characters of them; the rest stays in a ` +
    "variable. All functions that do not only look something up count as writes, so most calls wait for those before " +
    "them, in every style. Results are small: there is little to keep out of the conversation, and the answers of code " +
    "are longer than tool calls.",
  needs: ["bfcl-multi-turn"],
  async run({ data, maxTasks, progress, signal }) {
    const { tasks: all, skipped } = await readBfcl(join(data, "bfcl-multi-turn"))
    const tasks = all.slice(0, maxTasks)
    const records: StyleRecord[] = []
    for (const [index, task] of tasks.entries()) {
      for (const style of styles) {
        signal.throwIfAborted()
        records.push(await replay(task.conversation, style, { ...setup, world: () => createWorld(task) }))
      }
      progress(index + 1, tasks.length, task.conversation.id)
    }
    return {
      checks: styleChecks(records),
      sections: [tasksSection(tasks.map(({ conversation }) => conversation)), ...styleSections(records, lengths)],
      tasks: records,
      skipped: [...skipped, noLiveMode],
    }
  },
}

const noLiveMode = {
  what: "bfcl with a live or hand-played model",
  why: "recorded results answer no other calls; the Python package bfcl_eval would",
}
