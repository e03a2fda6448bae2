// test lane: unit, long
import assert from "node:assert/strict"
import { existsSync, statSync } from "node:fs"
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { karst } from "../karst.ts"

const codexConfig = `model = "gpt-5"
notify = ["/srv/me/notify.sh"]
instructions = """
model = "not this"
[model_providers.evil]
"""
[model_providers.own]
base_url = "https://models.example"
env_key = "OWN_KEY"

[mcp_servers.db]
command = "/srv/me/db"

[projects."/srv/me/secret-project"]
trust_level = "trusted"
`

async function home(t: TestContext): Promise<{ HOME: string; KARST_HOME: string; stage: string }> {
  const HOME = await mkdtemp(join(tmpdir(), "karst home-"))
  t.after(() => rm(HOME, { recursive: true, force: true }))
  const files = {
    ".claude/.credentials.json": JSON.stringify({ claudeAiOauth: { accessToken: "sk-1", refreshToken: "rt-1" } }),
    ".claude/settings.json": JSON.stringify({
      env: { ANTHROPIC_BASE_URL: "https://api.example", MY_TOKEN: "private" },
      hooks: { PreToolUse: [] },
      model: "opus",
    }),
    ".claude.json": JSON.stringify({
      hasCompletedOnboarding: true,
      projects: { "/srv/me/secret-project": { history: ["private"] } },
      mcpServers: { db: {} },
    }),
    ".codex/auth.json": JSON.stringify({ OPENAI_API_KEY: "sk-2" }),
    ".codex/config.toml": codexConfig,
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(HOME, path)), { recursive: true })
    await writeFile(join(HOME, path), text)
  }
  const KARST_HOME = join(HOME, ".karst")
  return { HOME, KARST_HOME, stage: join(KARST_HOME, "auth") }
}

describe("karst auth setup", () => {
  test("writes a private folder with a manifest, credentials and reduced settings, and prints no secret", async (t) => {
    const { HOME, KARST_HOME, stage } = await home(t)
    const { code, stdout } = await karst(["auth", "setup"], { HOME, KARST_HOME })
    assert.equal(code, 0)
    assert.doesNotMatch(stdout, /sk-|rt-/)
    const manifest = JSON.parse(await readFile(join(stage, "manifest.json"), "utf8"))
    assert.deepEqual([manifest.version, manifest.hostHome, manifest.workdir], [1, HOME, "/workspace"])
    assert.deepEqual(Object.keys(manifest.agents), ["claude", "codex"])
    const strategies = Object.values<{ files: { target: string; strategy: string }[] }>(manifest.agents).flatMap(
      ({ files }) => files.map(({ target, strategy }) => `${target} ${strategy}`),
    )
    assert.deepEqual(strategies, [
      ".claude/.credentials.json original",
      ".claude/settings.json reduced",
      ".claude.json reduced",
      ".codex/auth.json copy",
      ".codex/config.toml reduced",
    ])
    assert.equal(statSync(stage).mode & 0o777, 0o700)
    assert.equal(statSync(join(stage, "codex/.codex/auth.json")).mode & 0o777, 0o600)
    assert.ok(!existsSync(join(stage, "claude/.claude/.credentials.json")), "a login that is renewed is not copied")
  })

  test("leaves hooks, MCP servers, projects and other variables out, and trusts one folder", async (t) => {
    const { HOME, KARST_HOME, stage } = await home(t)
    await karst(["auth", "setup", "--workdir", "/app"], { HOME, KARST_HOME })
    const settings = JSON.parse(await readFile(join(stage, "claude/.claude/settings.json"), "utf8"))
    assert.deepEqual(settings, { model: "opus", env: { ANTHROPIC_BASE_URL: "https://api.example" } })
    const claude = JSON.parse(await readFile(join(stage, "claude/.claude.json"), "utf8"))
    assert.deepEqual(claude, {
      hasCompletedOnboarding: true,
      projects: { "/app": { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    })
    assert.equal(
      await readFile(join(stage, "codex/.codex/config.toml"), "utf8"),
      'model = "gpt-5"\n[model_providers.own]\nbase_url = "https://models.example"\nenv_key = "OWN_KEY"\n\n' +
        '[projects."/app"]\ntrust_level = "trusted"\n',
    )
  })

  test("replaces what it wrote before, in a folder of choice and for chosen CLIs", async (t) => {
    const { HOME, KARST_HOME } = await home(t)
    const folder = join(HOME, "stage")
    await karst(["auth", "setup", "--folder", folder], { HOME, KARST_HOME })
    const { code, stdout } = await karst(["auth", "setup", "--folder", folder, "--agents", "codex", "--json"], {
      HOME,
      KARST_HOME,
    })
    assert.equal(code, 0)
    assert.deepEqual(Object.keys(JSON.parse(stdout).agents), ["codex"])
    assert.ok(!existsSync(join(folder, "claude")))
    const elsewhere = await karst(["auth", "setup", "--source-home", HOME, "--folder", folder], {
      HOME: "/nonexistent",
    })
    assert.equal(elsewhere.code, 0)
  })

  test("writes nothing if no CLI is signed in, and over no folder of others", async (t) => {
    const { HOME, KARST_HOME, stage } = await home(t)
    const none = await karst(["auth", "setup", "--agents", "gemini"], { HOME, KARST_HOME })
    assert.deepEqual([none.code, existsSync(stage)], [1, false])
    assert.match(none.stderr, /no coding CLI is signed in/)
    const other = await karst(["auth", "setup", "--folder", HOME], { HOME, KARST_HOME })
    assert.equal(other.code === 0, false)
    assert.match(other.stderr, /has other files than those of `karst auth setup`/)
    assert.ok(existsSync(join(HOME, ".codex/auth.json")))
    assert.equal((await karst(["auth", "setup", "--agents", "nope"], { HOME, KARST_HOME })).code, 2)
    assert.equal((await karst(["auth", "setup", "--workdir", "relative"], { HOME, KARST_HOME })).code, 2)
  })

  test("names the CLIs that it left out, and the command that uses the folder of choice", async (t) => {
    const { HOME, KARST_HOME } = await home(t)
    const expired = { claudeAiOauth: { accessToken: "sk-1", expiresAt: 1 } }
    await writeFile(join(HOME, ".claude/.credentials.json"), JSON.stringify(expired))
    const folder = join(HOME, "my stage")
    const args = ["auth", "setup", "--agents", "claude,codex", "--folder", folder]
    const { code, stdout, stderr } = await karst(args, { HOME, KARST_HOME })
    assert.equal(code, 0)
    assert.match(stderr, /^karst: claude is left out: its credentials are expired; run `claude setup-token`.*\n$/)
    const use = /docker run \$\(karst (auth docker-flags --staged --folder '(.*)')\)/.exec(stdout)
    assert.equal(use?.[2], folder, stdout)
    const flags = await karst(["auth", "docker-flags", "--staged", "--folder", folder], { HOME, KARST_HOME })
    assert.equal(flags.code, 0)
    const all = await karst(["auth", "docker-flags"], { HOME, KARST_HOME })
    assert.match(all.stderr, /^karst: claude is left out: its credentials are expired; [^\n]*\n$/)
    const none = await karst(["auth", "setup", "--agents", "claude"], { HOME, KARST_HOME })
    assert.equal(none.code, 1)
    assert.match(none.stderr, /claude is left out: its credentials are expired/)
  })

  test("gives docker-flags --staged its mounts", async (t) => {
    const { HOME, KARST_HOME, stage } = await home(t)
    assert.equal((await karst(["auth", "docker-flags", "--staged"], { HOME, KARST_HOME })).code, 1)
    await karst(["auth", "setup"], { HOME, KARST_HOME, ANTHROPIC_BASE_URL: "https://x.example" })
    const { stdout } = await karst(["auth", "docker-flags", "--staged", "--home", "/srv/node", "--json"], {
      HOME,
      KARST_HOME,
    })
    const { mounts, variables } = JSON.parse(stdout)
    assert.deepEqual(mounts[0], {
      source: join(HOME, ".claude/.credentials.json"),
      target: "/srv/node/.claude/.credentials.json",
      readOnly: false,
    })
    assert.deepEqual(mounts.at(-1), {
      source: join(stage, "codex/.codex/config.toml"),
      target: "/srv/node/.codex/config.toml",
      readOnly: true,
    })
    assert.deepEqual(variables, ["ANTHROPIC_BASE_URL"])
  })
})

describe("karst auth teardown", () => {
  test("removes the folder, or only lists it", async (t) => {
    const { HOME, KARST_HOME, stage } = await home(t)
    await karst(["auth", "setup"], { HOME, KARST_HOME })
    const dry = await karst(["auth", "teardown", "--dry-run"], { HOME, KARST_HOME })
    assert.match(dry.stdout, /Would remove .*codex\/\.codex\/auth\.json.*manifest\.json/)
    assert.ok(existsSync(stage))
    const { code, stdout } = await karst(["auth", "teardown"], { HOME, KARST_HOME })
    assert.deepEqual([code, existsSync(stage)], [0, false])
    assert.match(stdout, /^Removed /)
    assert.match((await karst(["auth", "teardown"], { HOME, KARST_HOME })).stdout, /There is nothing in/)
    assert.ok(existsSync(join(HOME, ".codex/auth.json")))
  })

  test("refuses while a file of the host is a link into the folder, unless forced", async (t) => {
    const { HOME, KARST_HOME, stage } = await home(t)
    await karst(["auth", "setup"], { HOME, KARST_HOME })
    const login = join(HOME, ".codex/auth.json")
    await rename(login, `${login}.old`)
    await symlink(join(stage, "codex/.codex/auth.json"), login)
    const refused = await karst(["auth", "teardown"], { HOME, KARST_HOME })
    assert.notEqual(refused.code, 0)
    assert.match(refused.stderr, /is a link into .*sign the CLI out.*--force/)
    assert.ok(existsSync(stage))
    assert.equal((await karst(["auth", "teardown", "--force"], { HOME, KARST_HOME })).code, 0)
    assert.ok(!existsSync(stage))
  })

  test("removes no folder that setup did not write", async (t) => {
    const { HOME, KARST_HOME } = await home(t)
    const other = await karst(["auth", "teardown", "--folder", join(HOME, ".codex"), "--force"], { HOME, KARST_HOME })
    assert.notEqual(other.code, 0)
    assert.ok(existsSync(join(HOME, ".codex/auth.json")))
  })
})
