// test lane: runtimes, long
// The program of docs/shell.md, run as it is shown there.
import assert from "node:assert/strict"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { test } from "node:test"

// #region shell
import { type AgentOptions, createAgent } from "karst"
import { localWorkspace } from "karst/workspaces"
// #endregion

import type { Json } from "karst"
import { scriptedModel } from "karst/models"
import { requires } from "../system.ts"
import { setVariables, workIn } from "./surroundings.ts"

test("a shell asks about commands, waits, passes on few variables and is confined", {
  skip: requires("bwrap"),
}, async (t) => {
  await workIn(t, { "project/notes.txt": "one\ntwo\n" })
  setVariables(t, { MY_SECRET: "hidden" })
  const server = createServer((socket) => socket.end()).listen(0, "127.0.0.1")
  t.after(() => server.close())
  await once(server, "listening")
  const connect = `exec 3<> /dev/tcp/127.0.0.1/${(server.address() as AddressInfo).port}`
  let commands: object[] = []
  let asked: string[] = []
  const askSomebody = ({ args: [input] }: { args: readonly unknown[] }) => asked.push(Object(input).command) > 0
  const model = scriptedModel(({ messages }) => {
    const input = commands[messages.filter(({ role }) => role === "result").length] as Json | undefined
    return input === undefined ? "Done." : [{ type: "tool-call", id: crypto.randomUUID(), name: "shell", input }]
  })
  // #region shell
  const shell: AgentOptions["shell"] = {
    // Default true: every command needs approval.
    approve: ({ args: [input] }) => !/^(ls|cat|wc)( [\w.-]+)*$/.test(Object(input).command),
    timeoutMs: 120_000, // how long the tool waits; the model may request up to maxTimeoutMs (600,000)
    onTimeout: "background", // then the command continues in the background; or "kill"
    // In addition to PATH, HOME, USER, LANG, LC_*, TZ, TERM, TMPDIR; no other variable is passed.
    env: { CI: "1" },
    sandbox: "os", // bubblewrap, Linux; "auto": if available; default "none"
    network: "none",
  }
  // `askSomebody` returns true for yes. Without an approver, such commands are refused.
  const agent = createAgent({ model, workspace: localWorkspace("project"), shell, approver: askSomebody })
  // #endregion
  async function runs(shell: AgentOptions["shell"], ...inputs: object[]) {
    commands = inputs
    asked = []
    const texts: string[] = []
    await agent
      .with({
        shell,
        onEvent: (event) => event.type === "tool-end" && texts.push(event.text),
      })
      .run("Work")
    return texts
  }

  const texts = await runs(
    shell,
    { command: "wc -l notes.txt" },
    { command: "env -0 | tr '\\n\\0' ' \\n' | sed 's/=.*//'" },
    { command: "touch ../outside" },
    { command: connect },
    { command: "sleep 1000", timeoutMs: 600_001 },
    { command: "sleep 1000", timeoutMs: 100 },
  )
  assert.equal(asked.length, 4, "neither the harmless command nor the invalid one is asked about")
  const [counted = "", names = "", , connected = "", tooLong = "", waited = ""] = texts
  assert.match(counted, /^Exit code 0 after .*\n2 notes\.txt/)
  assert.match(names, /^CI$/m)
  const known = /^(CI|PATH|HOME|USER|LANG|LC_\w+|TZ|TERM|TMPDIR)$/
  const ofTheShell = /^(Exit code.*|PWD|OLDPWD|SHLVL|_|KARST_COMMAND|)$/
  assert.deepEqual(
    names.split("\n").filter((name) => !known.test(name) && !ofTheShell.test(name)),
    [],
  )
  assert.equal(existsSync("outside"), false)
  assert.match(connected, /command-failed[\s\S]*Connection refused/)
  assert.match(tooLong, /invalid-input.*600000/)
  assert.match(waited, /^Still running after 100 ms: command "c5"/)

  const others = await runs(
    { ...shell, onTimeout: "kill", sandbox: "none", network: "all", approve: true },
    { command: "touch ../outside" },
    { command: connect },
    { command: "sleep 1000", timeoutMs: 100 },
  )
  assert.equal(asked.length, 3)
  assert.match(others.join("\n"), /^Exit code 0[\s\S]*\nExit code 0[\s\S]*timeout/)
  assert.ok(existsSync("outside"))

  const unanswered = createAgent({ model, workspace: localWorkspace("project"), shell })
  commands = [{ command: "touch refused" }]
  await unanswered.run("Work")
  assert.match(JSON.stringify(model.requests.at(-1)?.messages.at(-1)), /approv/)
  assert.equal(existsSync("project/refused"), false)
  const result = await unanswered.with({ shell: {} }).run("Work").settled
  assert.match(JSON.stringify(result.trajectory.events), /no-approver/)
  const offered = model.requests.at(-1)?.tools?.map(({ name }) => name)
  assert.deepEqual([offered?.includes("shell"), offered?.includes("check_command")], [false, false])
})
