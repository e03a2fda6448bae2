// The suite `merge`: how many model calls and prompt tokens merging consecutive tool calls would save, in conversations
// of a real model.
import { join } from "node:path"
import { filesLike, missingData, mustHaveTasks, readJson } from "./harness/data.ts"
import { change, sum } from "./harness/figures.ts"
import type { Cell, Column, Section, Suite, TaskRecord } from "./harness/suite.ts"
import {
  type CountedConversation,
  conversationOf,
  countCalls,
  type Merging,
  mergings,
  type Recorded,
} from "./merge/count.ts"
import { readRetail } from "./retail/tasks.ts"

const recordings = "tau1-airline-trajectories"

export const merge: Suite = {
  name: "merge",
  about:
    "Recorded conversations of a real model with the tools of an airline (tau-bench). Nothing is replayed: the recorded messages are counted. `as recorded` is what the model did. " +
    "`independent calls` merges consecutive calls of one dependency level, as `json-par` does. `all consecutive calls` " +
    "merges every call up to the next message to the user: it is a bound that no way of acting can exceed, because some " +
    "of these calls need the results of others. The oracle's retail tasks are counted in the same way. The prompts have " +
    "the policy and the conversation; the declarations of the tools are not recorded and are left out.",
  needs: [recordings],
  async run({ data, maxTasks, progress }) {
    const folder = join(data, recordings)
    const files = filesLike(folder, "*.json")
    const byModel = new Map<string, CountedConversation[]>()
    for (const file of files) {
      const model = file.replace(/(?:_tasks.*)?\.json$/, "")
      const recorded = await readJson<Recorded[]>(folder, file)
      byModel.set(model, [...(byModel.get(model) ?? []), ...recorded.slice(0, maxTasks).map(conversationOf)])
    }
    const real = [...byModel.values()].flat()
    mustHaveTasks(real, folder, "<model>_tasks_<n>.json")
    const hasRetail = missingData(data, ["tau2-retail"]) === undefined
    const oracle = hasRetail ? await oracleConversations(join(data, "tau2-retail"), maxTasks) : []
    const counted = [...byModel].flatMap(([model, own]) => count(`${model}, airline`, own))
    const records = [...counted, ...count("oracle, retail", oracle)]
    progress(records.length, records.length, "counted")
    return {
      checks: [
        {
          what: "recorded tool calls whose result is recorded",
          passed: sum(real.map(({ answered }) => answered)),
          of: sum(real.map(({ calls }) => calls)),
        },
      ],
      sections: [table(records)],
      tasks: records,
      ...(!hasRetail && {
        skipped: [{ what: "the oracle's retail tasks", why: "tau2-retail is not in the data folder" }],
      }),
    }
  },
}

interface MergeRecord extends TaskRecord {
  source: string
  style: Merging
  modelCalls: number
  prompt: number
}

function count(source: string, conversations: readonly CountedConversation[]): MergeRecord[] {
  return conversations.flatMap((conversation) =>
    mergings.map(
      (style): MergeRecord => ({
        task: conversation.id,
        source,
        style,
        verified: conversation.answered === conversation.calls,
        ...countCalls(conversation, style),
      }),
    ),
  )
}

/** The expected actions of the retail tasks as messages, one call in each answer. */
async function oracleConversations(folder: string, maxTasks: number | undefined): Promise<CountedConversation[]> {
  const { policy, tasks } = await readRetail(folder)
  return tasks.slice(0, maxTasks).map(({ id, conversation }) =>
    conversationOf({
      task_id: id,
      trial: 0,
      traj: [
        { role: "system", content: policy },
        ...conversation.turns.flatMap(({ user, calls, answer }) => [
          { role: "user" as const, content: user },
          ...calls.flatMap(({ name, input, result }, index) => [
            {
              role: "assistant" as const,
              content: null,
              tool_calls: [{ id: `${index}`, function: { name, arguments: JSON.stringify(input) } }],
            },
            { role: "tool" as const, content: result, name, tool_call_id: `${index}` },
          ]),
          { role: "assistant" as const, content: answer },
        ]),
      ],
    }),
  )
}

function table(records: readonly MergeRecord[]): Section {
  const rows = [...Map.groupBy(records, ({ source }) => source)].flatMap(([source, own]) => {
    const byStyle = Map.groupBy(own, ({ style }) => style)
    const total = (style: Merging, figure: "modelCalls" | "prompt") =>
      sum((byStyle.get(style) ?? []).map((record) => record[figure]))
    return mergings.map((style): Cell[] => {
      const isBase = style === "as recorded"
      return [
        source,
        style,
        byStyle.get(style)?.length,
        total(style, "modelCalls"),
        total(style, "prompt"),
        isBase ? undefined : change(total(style, "modelCalls"), total("as recorded", "modelCalls")),
        isBase ? undefined : change(total(style, "prompt"), total("as recorded", "prompt")),
      ]
    })
  })
  const number = (name: string): Column => ({ name, format: "number" })
  return {
    title: "What merging would save",
    text: "Completion tokens are left out: merging does not change what the calls say.",
    table: {
      columns: [
        { name: "conversations of" },
        { name: "calls merged" },
        number("conversations"),
        number("model calls"),
        number("prompt"),
        { name: "model calls, change", format: "change" },
        { name: "prompt, change", format: "change" },
      ],
      rows,
    },
  }
}
