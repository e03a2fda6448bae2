// test lane: clis
import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { checkAuth } from "../../../src/providers/auth/auth.ts"
import { containerAuth } from "../../../src/providers/auth/container-auth.ts"

const now = () => Date.UTC(2026, 0, 1)
const later = now() + 3_600_000
const jwt = (exp: number) => `h.${Buffer.from(JSON.stringify({ exp })).toString("base64url")}.s`

/** Creates a home folder with these files. */
async function homeWith(t: TestContext, files: Record<string, unknown>): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "karst-auth-"))
  t.after(() => rm(home, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await writeFile(join(home, name), typeof content === "string" ? content : JSON.stringify(content))
  }
  return home
}

const claudeLogin = (expiresAt: number, more: object = {}) => ({
  ".claude/.credentials.json": { claudeAiOauth: { accessToken: "sk-secret", expiresAt, ...more } },
})

describe("the credentials of a coding CLI", () => {
  const table: [what: string, provider: string, files: Record<string, unknown>, found: [string, boolean, number?]][] = [
    ["a login of Claude Code", "claude", claudeLogin(later), ["present", false, later]],
    ["one that is over", "claude", claudeLogin(1000), ["expired", false, 1000]],
    ["one that renews itself", "claude", claudeLogin(1000, { refreshToken: "secret" }), ["expired", true, 1000]],
    [
      "a login of Codex",
      "codex",
      { ".codex/auth.json": { tokens: { access_token: jwt(later / 1000), refresh_token: "secret" } } },
      ["present", true, later],
    ],
    ["a key of Codex", "codex", { ".codex/auth.json": { OPENAI_API_KEY: "secret" } }, ["present", false]],
    [
      "keys of opencode",
      "opencode",
      { ".local/share/opencode/auth.json": { openai: { type: "api", key: "secret" } } },
      ["present", false],
    ],
    [
      "a login of opencode",
      "opencode",
      {
        ".local/share/opencode/auth.json": {
          anthropic: { type: "oauth", access: "secret", refresh: "secret", expires: later },
        },
      },
      ["present", true, later],
    ],
    [
      "a login of Gemini CLI",
      "gemini",
      { ".gemini/oauth_creds.json": { access_token: "secret", refresh_token: "secret", expiry_date: 1000 } },
      ["expired", true, 1000],
    ],
    ["a key of Gemini CLI in its .env", "gemini", { ".gemini/.env": "GEMINI_API_KEY=secret\n" }, ["present", false]],
  ]
  for (const [what, provider, files, [state, renewedByCli, expiresAt]] of table) {
    test(`are found: ${what}`, async (t) => {
      const HOME = await homeWith(t, files)
      const [auth] = await checkAuth([provider], { env: { HOME }, now })
      const [path = ""] = Object.keys(files)
      assert.deepEqual(auth?.files, [
        {
          path: join(HOME, path),
          target: path,
          kind: "credential",
          state,
          renewedByCli,
          ...(expiresAt && { expiresAt }),
        },
      ])
      assert.equal(auth?.state, state === "present" || renewedByCli ? "ready" : "expired")
      assert.doesNotMatch(JSON.stringify(auth), /secret/)
    })
  }

  test("are missing where there is nothing, or nothing in it, and the cure is named", async (t) => {
    const HOME = await homeWith(t, { ".codex/auth.json": { OPENAI_API_KEY: null }, ".codex/config.toml": "" })
    const found = await checkAuth(["claude", "codex", "opencode", "gemini"], { env: { HOME }, now })
    assert.deepEqual(new Set(found.map(({ state }) => state)), new Set(["missing"]))
    assert.match(found[1]?.cure ?? "", /codex login/)
  })

  test("are unreadable where the file is broken, and that is no reason to fail", async (t) => {
    const HOME = await homeWith(t, { ".claude/.credentials.json": "{ sk-secret" })
    const [auth] = await checkAuth(["claude"], { env: { HOME }, now })
    assert.deepEqual([auth?.state, auth?.files[0]?.state], ["missing", "unreadable"])
    assert.doesNotMatch(JSON.stringify(auth), /secret/)
  })

  test("may be variables, also those that its settings name, and services that it is told to use", async (t) => {
    const HOME = await homeWith(t, { ".codex/config.toml": '[model_providers.mine]\nenv_key = "MINE_KEY"\n' })
    const names = async (provider: string, env: Record<string, string>) => {
      const [auth] = await checkAuth([provider], { env: { HOME, ...env }, now })
      return [auth?.state, ...(auth?.variables.map(({ name, kind }) => `${kind} ${name}`) ?? [])]
    }
    assert.deepEqual(await names("claude", { ANTHROPIC_API_KEY: "secret", ANTHROPIC_BASE_URL: "http://x" }), [
      "ready",
      "credential ANTHROPIC_API_KEY",
      "settings ANTHROPIC_BASE_URL",
    ])
    assert.deepEqual(await names("claude", { ANTHROPIC_API_KEY: "", AWS_REGION: "x" }), ["missing"])
    assert.deepEqual(await names("claude", { CLAUDE_CODE_USE_BEDROCK: "1", AWS_REGION: "x" }), [
      "ready",
      "credential CLAUDE_CODE_USE_BEDROCK",
      "settings AWS_REGION",
    ])
    assert.deepEqual(await names("codex", { MINE_KEY: "secret" }), ["ready", "credential MINE_KEY"])
  })

  test("are looked for where the CLI's own variables say", async (t) => {
    const HOME = await homeWith(t, { "elsewhere/.credentials.json": { claudeAiOauth: { accessToken: "secret" } } })
    const [auth] = await checkAuth(["claude"], { env: { HOME, CLAUDE_CONFIG_DIR: join(HOME, "elsewhere") }, now })
    assert.deepEqual(
      auth?.files.map(({ target }) => target),
      [".claude/.credentials.json"],
    )
  })

  test("of a CLI that nobody knows are an error that lists the known ones", async () => {
    await assert.rejects(checkAuth(["nope"]), /Unknown coding CLI "nope"\. There are: claude, codex, opencode, gemini/)
  })
})

test("a container gets each file by itself, read-only unless it is renewed, and variables by name", async (t) => {
  const HOME = await homeWith(t, {
    ...claudeLogin(later, { refreshToken: "secret" }),
    ".claude/history.jsonl": "private",
    ".claude.json": { projects: {} },
    ".codex/auth.json": { OPENAI_API_KEY: "secret" },
    ".codex/config.toml": 'model = "x"',
  })
  const found = await checkAuth(["claude", "codex"], { env: { HOME, ANTHROPIC_API_KEY: "secret" }, now })
  const { flags } = containerAuth(found, "/srv/agent")
  const mount = (file: string, end = "") => [
    "--mount",
    `type=bind,source=${HOME}/${file},target=/srv/agent/${file}${end}`,
  ]
  assert.deepEqual(flags, [
    ...mount(".claude/.credentials.json"),
    ...mount(".codex/auth.json", ",readonly"),
    ...mount(".codex/config.toml", ",readonly"),
    "--env",
    "ANTHROPIC_API_KEY",
  ])
})

test("a path with a comma or a quote stays one field of a mount", () => {
  const file = { target: "f", kind: "credential", state: "present", renewedByCli: false } as const
  const auth = {
    provider: "x",
    state: "ready",
    cure: "",
    variables: [],
    files: [{ ...file, path: '/a,"b"/f' }],
  } as const
  const { flags } = containerAuth([{ ...auth, files: [...auth.files], variables: [] }], "/srv")
  assert.deepEqual(flags, ["--mount", 'type=bind,"source=/a,""b""/f",target=/srv/f,readonly'])
})
