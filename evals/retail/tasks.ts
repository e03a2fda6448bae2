// Reads the retail tasks and their reference results, and makes conversations of them.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { Json } from "karst"
import { errorText, filesLike, mustHaveTasks, readJson } from "../harness/data.ts"
import type { Skipped } from "../harness/suite.ts"
import type { ReplayCall, ReplayTask } from "../replay/task.ts"
import { firstSentence, type TrimmedSchema, trimSchema } from "../replay/trim-schema.ts"
import { storeTools } from "./store-tools.ts"

export interface RetailData {
  /** The text of the database. */
  database: string
  baseHash: string
  policy: string
  functions: RetailFunction[]
  tasks: RetailTask[]
  /** The tasks that cannot be run, such as those without reference results. */
  skipped: Skipped[]
}

export interface RetailFunction {
  name: string
  description: string
  input: TrimmedSchema
}

export interface RetailTask {
  id: string
  actions: ReferenceAction[]
  /** The hash of the state that the actions lead to. */
  endHash: string
  conversation: ReplayTask
}

export interface ReferenceAction {
  name: string
  arguments: Record<string, Json>
  result: string
  error: boolean
}

interface Reference {
  base_db_hash_neutral: string
  tasks: { id: string; actions: ReferenceAction[]; db_hash_neutral: string }[]
}

interface TaskData {
  id: string
  user_scenario: { instructions: string | Record<string, string | null> }
  evaluation_criteria: { communicate_info?: string[] | null }
}

interface FunctionData {
  function: { name: string; description: string; parameters: Json }
}

/** Reads all pairs of `tasks_<split>.json` and `reference_<split>.json`. */
export async function readRetail(folder: string): Promise<RetailData> {
  const { policy_md: policy } = await readJson<{ policy_md: string }>(folder, "policy.json")
  const functions = await readJson<FunctionData[]>(folder, "tools_openai_schema.json")
  const tasks: RetailTask[] = []
  const skipped: Skipped[] = []
  let baseHash = ""
  for (const file of filesLike(folder, "reference_*.json")) {
    const reference = await readJson<Reference>(folder, file)
    const data = await readJson<TaskData[]>(folder, file.replace("reference_", "tasks_"))
    baseHash = reference.base_db_hash_neutral
    for (const { id, actions, db_hash_neutral: endHash } of reference.tasks) {
      try {
        const task = data.find((each) => each.id === id)
        if (!task) throw new Error(`${file.replace("reference_", "tasks_")} does not have it`)
        tasks.push({ id, actions, endHash, conversation: toConversation(task, actions) })
      } catch (error) {
        skipped.push({ what: `task ${id}`, why: errorText(error) })
      }
    }
    const known = new Set(reference.tasks.map(({ id }) => id))
    const others = data.filter(({ id }) => !known.has(id))
    skipped.push(...others.map(({ id }) => ({ what: `task ${id}`, why: `${file} has no results of it` })))
  }
  mustHaveTasks(tasks, folder, "tasks_<split>.json with reference_<split>.json")
  return {
    database: await readFile(join(folder, "db.json"), "utf8"),
    baseHash,
    policy,
    functions: functions.map(({ function: { name, description, parameters } }) => ({
      name,
      description: firstSentence(description),
      input: trimSchema(parameters),
    })),
    tasks,
    skipped,
  }
}

/** The user says everything at once. The assistant looks things up, lists all changes, asks for one confirmation before
 *  the first of them, makes them, and closes with what the user wants to know. */
export function toConversation(task: TaskData, actions: readonly ReferenceAction[]): ReplayTask {
  const calls = actions.map(toCall)
  const user = scenarioText(task.user_scenario.instructions)
  const mentions = task.evaluation_criteria.communicate_info ?? []
  const answer = ["Everything is done.", ...mentions].join(" ")
  const firstWrite = calls.findIndex(({ writes }) => writes)
  if (firstWrite === -1) return { id: task.id, turns: [{ user, calls, answer, mentions }] }
  const changes = calls.filter(({ writes }) => writes).map(({ name, input }) => `- ${name}: ${JSON.stringify(input)}`)
  const question = ["I will make these changes:", ...changes, "Do you confirm (yes/no)?"].join("\n")
  return {
    id: task.id,
    turns: [
      { user, calls: calls.slice(0, firstWrite), answer: question },
      { user: "Yes, please.", calls: calls.slice(firstWrite), answer, mentions },
    ],
  }
}

function toCall({ name, arguments: input, result, error }: ReferenceAction): ReplayCall {
  return { name, input, result, fails: error, writes: storeTools[name]?.writes ?? true }
}

function scenarioText(instructions: TaskData["user_scenario"]["instructions"]): string {
  if (typeof instructions === "string") return instructions
  const { reason_for_call, known_info, unknown_info, task_instructions } = instructions
  return [reason_for_call, known_info, unknown_info, task_instructions].filter(Boolean).join("\n")
}
