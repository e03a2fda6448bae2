// Reports the state and results of sub-tasks to the model.
import { AgentError, errorData } from "../../core/errors.ts"
import type { Question } from "../../core/event.ts"
import { escapeTitles, indentFurtherLines, oneLine } from "../../core/text/tagged-text.ts"
import { type Directive, type ToolResult, toolResult } from "../tool.ts"
import type { Subtask } from "./subtasks.ts"

/** Makes a tool result of sub-tasks: their texts in order, and the questions of those that wait for the user. Marks
 *  ended and waiting tasks as reported. The result is a failure if every task failed. */
export function reportSubtasks(tasks: readonly Subtask[], options: ReportOptions): ToolResult {
  const askingTasks = tasks.filter((task) => !task.reported && questionOf(task))
  const text = tasks.map((task) => subtaskText(task, options)).join("\n\n")
  const failures = tasks.map(failureCode)
  const [code] = failures
  const value = tasks.map(subtaskData)
  for (const task of tasks) if (task.status !== "running" && task.status !== "queued") task.reported = true
  if (!options.inquiry && code !== undefined && failures.every((each) => each !== undefined)) {
    return toolResult({ text, value, code: failures.every((each) => each === code) ? code : "sub-agents-failed" })
  }
  const directive = askingTasks.length > 0 ? askDirective(askingTasks) : undefined
  return toolResult({ text, value, ...(directive && { directive }) })
}

export interface ReportOptions {
  /** Tells the model how to pass on an answer. */
  continueHint(task: Subtask): string
  /** Set if the model only asked for the status. Failed tasks are then not a failure of the call. With `all`,
   *  results that were reported before are left out. */
  inquiry?: "all" | "named" | undefined
}

// An answer of one sub-agent must not look like the report of another.
const titles = /\[t\d+ /

function subtaskText(task: Subtask, options: ReportOptions): string {
  const { id, name, status, reply, error, reported } = task
  const title = `[${id} ${name}]`
  if (reported && options.inquiry === "all" && status !== "waiting") return `${title} ${status}, as reported.`
  const answer = reply?.output ? `\n${escapeTitles(reply.output, titles)}` : ""
  switch (status) {
    case "queued":
    case "running":
      return `${title} ${status}.`
    case "done":
      return `${title} done.${reply?.files ? ` Files: ${oneLine(reply.files.join(", "), 5000)}.` : ""}${answer}`
    case "stopped":
      return `${title} stopped at its limit (${reply?.reason}), not done. Its last words:${answer || " none."}`
    case "aborted":
      return `${title} was interrupted, not done${reply?.detail ? `: ${indentFurtherLines(reply.detail)}` : "."}`
    case "failed": {
      const { message, code } = error === undefined ? (reply?.error ?? errorData(undefined)) : errorData(error)
      return `${title} failed${code === undefined ? "" : ` (${code})`}: ${indentFurtherLines(message)}`
    }
    case "waiting": {
      const trouble = error === undefined ? "" : ` It could not go on: ${indentFurtherLines(errorData(error).message)}`
      const question = questionOf(task)
      if (!question) return `${title} waits for an approval.${trouble}`
      return `${title} asks the user: ${indentFurtherLines(questionText(question))}${trouble}\nWhen the answer is there, ${options.continueHint(task)}.`
    }
  }
}

function failureCode({ status, error }: Subtask): string | undefined {
  if (error !== undefined) return error instanceof AgentError ? error.code : "sub-agent-failed"
  return status === "failed" || status === "stopped" || status === "aborted" ? `sub-agent-${status}` : undefined
}

// What a cell gets that calls the tool as a function.
function subtaskData({ id, name, status, reply, error }: Subtask) {
  const failure = error === undefined ? reply?.error : errorData(error)
  return {
    id,
    agent: name,
    status,
    output: reply?.output ?? "",
    ...(reply?.files && { files: reply.files }),
    ...(reply?.reason && { reason: reply.reason }),
    ...(reply?.pending && status === "waiting" && { pending: reply.pending }),
    ...(failure && { error: `${failure.name}: ${failure.message}` }),
  }
}

function questionOf({ status, reply }: Subtask): Question | undefined {
  return status === "waiting" && reply?.pending?.kind === "question" ? reply.pending : undefined
}

// A single question is passed on unchanged. Several questions are asked together.
function askDirective(askingTasks: readonly Subtask[]): Directive {
  const [only] = askingTasks
  const single = askingTasks.length === 1 && only ? questionOf(only) : undefined
  if (single) {
    const { question, options, multiple, custom } = single
    return {
      kind: "ask",
      question,
      ...(options && { options }),
      ...(multiple !== undefined && { multiple }),
      ...(custom !== undefined && { custom }),
    }
  }
  const lines = askingTasks.map((task, index) => {
    const question = questionOf(task)
    return `${index + 1}. ${task.name}: ${question ? indentFurtherLines(questionText(question)) : ""}`
  })
  return { kind: "ask", question: lines.join("\n") }
}

function questionText({ question, options }: Question): string {
  return options ? `${question} (${options.join(" / ")})` : question
}
