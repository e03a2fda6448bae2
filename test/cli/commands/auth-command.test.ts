import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { karst } from "../karst.ts"

async function home(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "karst home-"))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, ".claude"))
  const login = { accessToken: "sk-secret", refreshToken: "rt-secret", expiresAt: Date.UTC(2020, 0, 1) }
  await writeFile(join(folder, ".claude", ".credentials.json"), JSON.stringify({ claudeAiOauth: login }))
  return folder
}

describe("karst auth", () => {
  test("status says what each CLI signs in with and until when, and prints no secret", async (t) => {
    const HOME = await home(t)
    const { code, stdout } = await karst(["auth", "status"], { HOME, OPENAI_API_KEY: "sk-secret" })
    assert.equal(code, 0)
    assert.match(stdout, /^claude: ready$/m)
    assert.match(
      stdout,
      /credential {2}~\/\.claude\/\.credentials\.json {2}expired 2020-01-01 00:00 UTC, renews itself/,
    )
    assert.match(stdout, /^codex: ready\n {2}credential {2}OPENAI_API_KEY {2}is set$/m)
    assert.match(stdout, /^gemini: missing; .*GEMINI_API_KEY$/m)
    assert.doesNotMatch(stdout, /secret/)
    const one = await karst(["auth", "status", "--agents", "claude", "--json"], { HOME })
    const { agents } = JSON.parse(one.stdout)
    assert.deepEqual([agents.length, agents[0].provider, agents[0].state], [1, "claude", "ready"])
  })

  test("docker-flags are arguments for a shell, and what is missing is said beside them", async (t) => {
    const HOME = await home(t)
    const args = ["auth", "docker-flags", "--agents", "claude,codex", "--home", "/srv/agent"]
    const { code, stdout, stderr } = await karst(args, { HOME, ANTHROPIC_API_KEY: "sk-secret" })
    assert.equal(code, 0)
    assert.deepEqual(stdout.split("\n"), [
      `--mount 'type=bind,source=${HOME}/.claude/.credentials.json,target=/srv/agent/.claude/.credentials.json'`,
      "--env ANTHROPIC_API_KEY",
      "",
    ])
    assert.match(stderr, /codex is left out: its credentials are missing; run `codex login`/)
    const json = JSON.parse((await karst([...args, "--json"], { HOME })).stdout)
    assert.deepEqual(json.mounts, [
      {
        source: `${HOME}/.claude/.credentials.json`,
        target: "/srv/agent/.claude/.credentials.json",
        readOnly: false,
      },
    ])
  })

  test("ends with 1 where nothing is there, and with 2 for what it does not know", async (t) => {
    const HOME = await home(t)
    const codes = async (...args: string[]) => (await karst(["auth", ...args], { HOME })).code
    assert.equal(await codes("status", "--agents", "codex"), 1)
    assert.equal(await codes("docker-flags", "--agents", "codex"), 1)
    assert.equal(await codes("status", "--agents", "nope"), 2)
    assert.equal(await codes("setup"), 2)
    assert.equal(await codes("docker-flags", "--home", "relative"), 2)
  })
})
