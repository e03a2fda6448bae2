// test lane: clis, long
import assert from "node:assert/strict"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { claude } from "karst/providers"
import { findCli, testedVersions } from "../../../scripts/clis.ts"
import { requires } from "../../system.ts"
import { createCliMachine, waitUntil } from "../cli-machines.ts"
import { taskCommand } from "./terminal-machine.ts"
import { openTmux } from "./tmux.ts"

const key = "none-of-your-business-1234567890"

describe("Claude Code itself in a terminal", { skip: requires("claude", "node-pty", "tmux") }, () => {
  for (const version of testedVersions("claude")) {
    test(`answers, works on live objects, asks the person, and its session goes on in a program (${version})`, {
      timeout: 120_000,
      skip:
        findCli("claude", version) === undefined &&
        `claude ${version} is not installed: KARST_REQUIRE_ALL=1 npm test installs it`,
    }, async () => {
      await using place = await createCliMachine(
        "claude",
        async (model, home) => {
          // Answers the questions that Claude Code asks at its first start.
          const answered = {
            hasCompletedOnboarding: true,
            theme: "dark",
            customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
            projects: { [join(home, "..", "work")]: { hasTrustDialogAccepted: true } },
          }
          await writeFile(join(home, ".claude.json"), JSON.stringify(answered))
          return {
            ANTHROPIC_BASE_URL: model.url,
            ANTHROPIC_API_KEY: key,
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
            TERM: "xterm-256color",
          }
        },
        version,
      )
      const { env = {} } = place.options
      const own = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])))
      await using tmux = await openTmux(place.cwd, own)
      const { program, cwd } = place.options
      tmux.type(taskCommand({ prompt: "hello", live: true, options: { program, cwd } }), "Enter")
      await tmux.sees("pong: hello")
      tmux.type('[[tool:mcp__karst__run {"code":"counter.add(41)"}]]')
      await tmux.sees("counter.add(41)")
      tmux.type("", "Enter")
      await tmux.sees(/tool said:[\s\S]*41/)
      tmux.type('[[tool:mcp__karst__run {"code":"await wipe()"}]]')
      await tmux.sees("await wipe()")
      tmux.type("", "Enter")
      // A call that needs approval asks the person in the CLI's own dialog.
      await tmux.sees("May wipe() be called?")
      tmux.type("", "Enter")
      await tmux.sees(/❯ Accept/)
      // A key pressed while the dialog is redrawn is lost, so it is pressed again while the dialog stays.
      const isAnswered = () => !/❯ Accept/.test(tmux.screen())
      while (!isAnswered()) {
        tmux.type("", "Enter")
        await waitUntil("the dialog is answered", isAnswered, 1000).catch(() => undefined)
      }
      await tmux.sees(/tool said:[\s\S]*-1/)
      tmux.type("", "C-c", "C-c")
      await tmux.sees("total -1")
      const [, json = ""] = /RESULT (\{.*\})/.exec(tmux.screen().replaceAll("\n", "")) ?? []
      const { exitCode, sessionId, handle } = JSON.parse(json)
      assert.equal(exitCode, 0)
      assert.match(sessionId, /^[\da-f-]{36}$/)
      assert.deepEqual(tmux.state(), { otherScreen: false, cursor: true, mouse: false })
      await using session = await claude(place.options).session({ resume: handle })
      await session.send("and now")
      assert.ok(JSON.stringify(place.model.requests.at(-1)?.body.messages).includes("counter.add(41)"))
    })
  }
})
