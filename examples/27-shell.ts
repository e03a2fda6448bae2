// A shell with approval: harmless commands run at once, others wait for an answer. With bubblewrap, commands can write
// only in the workspace and have no network. When the run ends, all commands are stopped.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAgent, type Json } from "karst"
import { type ModelPart, scriptedModel } from "karst/models"
import { localWorkspace } from "karst/workspaces"

const folder = await mkdtemp(join(tmpdir(), "karst-example-"))
const workspace = localWorkspace(folder)
await workspace.write("notes.txt", "one\ntwo\nthree\n")

let calls = 0
const call = (name: string, input: Json): ModelPart[] => [{ type: "tool-call", id: `call_${++calls}`, name, input }]
const model =
  process.env.MODEL ??
  scriptedModel([
    call("shell", { command: "wc -l notes.txt" }),
    call("shell", { command: "rm notes.txt" }),
    call("shell", { command: "echo tick; sleep 1000", background: true }),
    call("check_command", { id: "c2", waitMs: 200 }),
    "There are three notes. They are still there, and a clock is ticking.",
  ])

const harmless = /^(ls|wc|cat)( [\w.-]+)*$/
const commandOf = (args: readonly unknown[]) => (args[0] as { command: string }).command

const agent = createAgent({
  model,
  workspace,
  shell: { sandbox: "auto", approve: ({ args }) => !harmless.test(commandOf(args)) },
  approver({ args }) {
    const yes = !commandOf(args).startsWith("rm")
    console.log(`may it run \`${commandOf(args)}\`? ${yes ? "yes" : "no"}`)
    return yes
  },
})

for await (const event of agent.run("Count the notes, tidy up, then start the clock.")) {
  if (event.type === "tool-end") console.log(`${event.name}: ${event.text}\n`)
  if (event.type === "run-end") console.log(event.output)
}
await rm(folder, { recursive: true })
