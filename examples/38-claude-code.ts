// A coding CLI as an agent: the same run, events and result as any other. Here it may read, and nothing else.
// Needs Claude Code (`npm install -g @anthropic-ai/claude-code`), logged in; codex, opencode and gemini are used alike.
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { claude } from "karst/providers"

const cwd = await mkdtemp(join(tmpdir(), "karst-"))
await writeFile(join(cwd, "notes.md"), "- buy tea\n- call Grace\n- water the plants\n")

const agent = claude({ cwd, allow: ["read"], instructions: "Answer in one sentence.", limits: { timeMs: 120_000 } })
const run = agent.run("How many things are on my list in notes.md?")
for await (const event of run) {
  if (event.type === "tool-start") console.log(`${event.name} ${JSON.stringify(event.input)}`)
  if (event.type === "warning-raised") console.log(`warning: ${event.message}`)
}

// Never rejects: what went wrong has a code, and says what helps.
const { status, output, error, usage } = await run.settled
console.log(`${status}: ${error?.message ?? output}`)
if (!error) console.log(`${usage.input} tokens read, ${usage.output} written, $${usage.costUsd?.toFixed(4)}`)

await rm(cwd, { recursive: true })
