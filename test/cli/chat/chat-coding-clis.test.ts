// test lane: clis, long
import assert from "node:assert/strict"
import { mkdir, symlink } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { fileURLToPath } from "node:url"
import { type CliName, findCli } from "../../../scripts/clis.ts"
import { type CliMachine, claudeMachine, codexMachine } from "../../providers/cli-machines.ts"
import { opencodeMachine } from "../../providers/slow-cli-machines.ts"
import { openTmux } from "../../providers/terminal/tmux.ts"
import { requires } from "../../system.ts"
import { until } from "../../waiting.ts"

const bin = fileURLToPath(new URL("../../../src/cli/bin.ts", import.meta.url))
const clis: { name: CliName; machine: () => Promise<CliMachine> }[] = [
  { name: "claude", machine: () => claudeMachine() },
  { name: "codex", machine: codexMachine },
  { name: "opencode", machine: opencodeMachine },
]

/** Opens a terminal in which the command finds the real CLI, whose model is the loopback one. */
async function openTerminal(t: TestContext, name: CliName, machine: () => Promise<CliMachine>) {
  const place = await machine()
  const programs = join(place.home, "bin")
  await mkdir(programs)
  await symlink(findCli(name) ?? "", join(programs, name))
  const variables = Object.entries(place.options.env ?? {}).filter((entry): entry is [string, string] =>
    Boolean(entry[1]),
  )
  const env = {
    ...Object.fromEntries(variables),
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    KARST_HOME: join(place.home, "karst"),
  }
  const terminal = await openTmux(place.cwd, {
    ...env,
    PATH: [programs, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
  })
  t.after(async () => {
    await terminal[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })
  const chat = (...args: string[]) => {
    const flags = "--conditions=karst-source --disable-warning=ExperimentalWarning"
    terminal.type(`clear; ${process.execPath} ${flags} ${bin} chat ${args.join(" ")}`, "Enter")
  }
  return { ...terminal, place, chat }
}

describe("karst chat with a real coding CLI", { skip: requires("tmux") }, () => {
  for (const { name, machine } of clis) {
    const options = { skip: requires(name), timeout: 240_000 }
    test(
      `${name} answers two prompts, is interrupted, and its conversation and a copy of it are continued`,
      options,
      async (t) => {
        const terminal = await openTerminal(t, name, machine)
        /** What the model was asked last, from the first prompt of this test on. */
        const asked = () =>
          JSON.stringify(terminal.place.model.requests.at(-1)?.body).replace(/^.*?(?=first |fourth )/, "")
        const answers = async (prompt: string, answer: string) => {
          terminal.type(`${prompt} [[say:${answer}]]`, "Enter")
          await terminal.sees(
            new RegExp(`❯ ${prompt} [^●]*● ${answer}\\n\\n✓ done · 1 cycle · 120 tokens[^\\n]*\\n\\n❯ *$`, "m"),
          )
        }
        terminal.chat("--provider", name)
        await terminal.sees(new RegExp(`^karst · ${name} · /help\\n\\n❯ *$`, "m"))
        await answers("first", "One.")
        await answers("second", "Two.")
        assert.match(asked(), /^first .*second /)

        terminal.type("third [[hang]]", "Enter")
        await until(() => /third/.test(asked()))
        terminal.type("", "C-c")
        await terminal.sees(/■ aborted[^\n]*\n\n❯ *$/m)
        assert.deepEqual(await left(terminal.place, name), [])
        terminal.type("/compact", "Enter")
        await terminal.sees("A coding CLI shortens its conversation by itself.")
        terminal.type("/vars", "Enter")
        await terminal.sees("This session has no variables.")
        terminal.type("/fork", "Enter")
        await terminal.sees(/You are now in a copy\. The original: karst chat --session s_\w+/)
        const [, original = ""] = /The original: karst chat --session (\w+)/.exec(terminal.screen()) ?? []
        terminal.type("", "C-d")
        await terminal.sees(/Continue: karst chat --session s_\w+/)

        // The copy was left before it was used.
        terminal.chat("--session", "last")
        await terminal.sees(/■ aborted[^\n]*\n\n❯ *$/m)
        await answers("fourth", "Four.")
        assert.match(asked(), /^first .*second .*fourth /)
        terminal.type(`/resume ${original}`, "Enter")
        await terminal.sees(`session ${original}`)
        await answers("fifth", "Five.")
        assert.match(asked(), /^first .*second .*fifth /)
        assert.doesNotMatch(asked(), /fourth /)
      },
    )
  }
})

/** The processes of the CLI that still run. */
async function left(place: CliMachine, name: CliName): Promise<string[]> {
  return (await place.processes()).filter((line) => line.includes(findCli(name) ?? name))
}
