// `karst run "prompt"`: runs a prompt with data files and skills, and shows the run.
import { text as readAll } from "node:stream/consumers"
import { display } from "../display.ts"
import { parseArguments, parseDisplayMode, parsePositiveInteger } from "./arguments.ts"
import { chooseModel } from "./choose-model.ts"
import { commandAgent } from "./command-agent.ts"
import { exitCode, interruptible, printEvent } from "./interruptible-run.ts"
import { loadData } from "./load/load-data.ts"
import { UsageError } from "./usage-error.ts"

export async function runPromptCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArguments("run", args, {
    model: { type: "string" },
    data: { type: "string", multiple: true },
    skills: { type: "string", multiple: true },
    json: { type: "boolean" },
    "max-cycles": { type: "string" },
    mode: { type: "string" },
  })
  const maxCycles = parsePositiveInteger("--max-cycles", values["max-cycles"])
  const mode = parseDisplayMode(values.mode)
  const prompt = await readPrompt(positionals)
  const model = await chooseModel(values.model)
  const bindings = await loadData(values.data ?? [])
  const agent = commandAgent({ model, bindings, skills: values.skills, maxCycles })

  const running = agent.run(prompt, { onEvent: values.json ? printEvent : undefined })
  const result = await interruptible(running, () => (values.json ? running.settled : display(running, { mode })))
  return exitCode(result)
}

async function readPrompt(words: string[]): Promise<string> {
  const prompt = words.length === 1 && words[0] === "-" ? await readAll(process.stdin) : words.join(" ")
  if (prompt.trim() === "") throw new UsageError('There is no prompt. Say: karst run "what to do"')
  return prompt
}
