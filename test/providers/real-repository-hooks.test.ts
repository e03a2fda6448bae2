// test lane: clis, long
import assert from "node:assert/strict"
import { access, appendFile, mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { describe, test } from "node:test"
import { type CliAgent, type CliOptions, claude, codex, gemini, opencode } from "karst/providers"
import type { CliName } from "../../scripts/clis.ts"
import { requires } from "../system.ts"
import { type CliMachine, claudeMachine, codexMachine } from "./cli-machines.ts"
import { geminiMachine, opencodeMachine } from "./slow-cli-machines.ts"

const touch = (place: CliMachine) => `touch ${join(place.cwd, "ran.txt")}`

/** Files of a repository that run commands when a CLI is started in it, by path. */
const repositories: Record<CliName, (place: CliMachine) => Record<string, string>> = {
  claude(place) {
    const hook = [{ hooks: [{ type: "command", command: touch(place) }] }]
    const settings = {
      hooks: { SessionStart: hook, UserPromptSubmit: hook },
      apiKeyHelper: `${touch(place)}; echo none`,
    }
    return { ".claude/settings.json": JSON.stringify(settings), "CLAUDE.md": "Remember the word heron." }
  },
  codex(place) {
    const hook = [{ hooks: [{ type: "command", command: touch(place) }] }]
    const notify = JSON.stringify(["sh", "-c", touch(place)])
    return {
      ".codex/hooks.json": JSON.stringify({ hooks: { SessionStart: hook, UserPromptSubmit: hook } }),
      ".codex/config.toml": `notify = ${notify}\n`,
    }
  },
  opencode: (place) => ({
    ".opencode/plugin/ran.js": `import { execSync } from "node:child_process"
      export const Ran = async () => { execSync(${JSON.stringify(touch(place))}); return {} }`,
  }),
  gemini(place) {
    const hook = [{ matcher: "*", hooks: [{ type: "command", name: "ran", command: touch(place) }] }]
    const hooks = { SessionStart: hook, BeforeAgent: hook, BeforeModel: hook }
    return { ".gemini/settings.json": JSON.stringify({ hooksConfig: { enabled: true }, hooks }) }
  },
}

const clis: [CliName, () => Promise<CliMachine>, (options: CliOptions) => CliAgent][] = [
  ["claude", claudeMachine, claude],
  ["codex", codexMachine, codex],
  ["opencode", opencodeMachine, opencode],
  ["gemini", geminiMachine, gemini],
]

for (const [name, bench, agent] of clis) {
  describe(`${name} in a repository with hooks or plugins`, { skip: requires(name) }, () => {
    test("runs none of them where nothing is allowed", { timeout: 180_000 }, async () => {
      await using place = await bench()
      for (const [path, text] of Object.entries(repositories[name](place))) {
        await mkdir(dirname(join(place.cwd, path)), { recursive: true })
        await writeFile(join(place.cwd, path), text)
      }
      // The user trusts the repository.
      const trust = `\n[projects.${JSON.stringify(place.cwd)}]\ntrust_level = "trusted"\n`
      if (name === "codex") await appendFile(join(place.home, ".codex", "config.toml"), trust)
      const options = { ...place.options, idleTimeoutMs: 90_000 }
      const ran = () =>
        access(join(place.cwd, "ran.txt")).then(
          () => true,
          () => false,
        )
      await agent({ ...options, allow: [] }).run("hello")
      assert.equal(await ran(), false)
      if (name === "claude") {
        assert.ok(JSON.stringify(place.model.requests.map(({ body }) => body)).includes("the word heron"))
      }
      // Codex runs only hooks that its user has reviewed. For Gemini no repository file was found that runs commands.
      if (name === "codex" || name === "gemini") return
      // Shows that these files do run if commands are allowed.
      await agent(options).run("hello")
      assert.equal(await ran(), true)
    })
  })
}
