import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { claude, codex, gemini, opencode } from "karst/providers"
import type { ArchiveOptions } from "karst/sessions"
import type { CliMachine } from "./cli-machines.ts"

const agents = { claude, codex, gemini, opencode }

export interface ResumedSession {
  output: string
  /** The number of messages of the session afterwards. */
  messages: number
}

/** Resumes a session in another process. */
export async function resumeInChild(
  name: keyof typeof agents,
  bench: CliMachine,
  session: ArchiveOptions,
  prompt: string,
): Promise<ResumedSession> {
  return JSON.parse(await text(startResumingChild(name, bench, session, prompt).stdout))
}

/** Starts that process. */
export function startResumingChild(
  name: keyof typeof agents,
  { options }: CliMachine,
  session: ArchiveOptions,
  prompt: string,
): ChildProcessByStdio<Writable, Readable, null> {
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url)], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  child.stdin.end(JSON.stringify({ name, options, session, prompt }))
  return child
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { name, options, session, prompt } = JSON.parse(await text(process.stdin))
  // Removes the variables that the test's process removes from the CLI's environment.
  const nothing = Object.fromEntries(Object.keys(process.env).map((each) => [each, undefined]))
  const agent = agents[name as keyof typeof agents]({ ...options, env: { ...nothing, ...options.env } })
  const opened = await agent.session(session)
  const { output } = await opened.send(prompt)
  process.stdout.write(JSON.stringify({ output, messages: opened.messages().length }))
  await opened.close()
}
