// test lane: clis
import assert from "node:assert/strict"
import { chmod, mkdir, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { afterEach, describe, test } from "node:test"
import { ConfigError } from "karst"
import {
  type CodingAgentOptions,
  checkHealth,
  claude,
  codex,
  codingAgent,
  fallback,
  installedProviders,
} from "karst/providers"
import { cliNames } from "../../src/providers/cli-names.ts"
import { knownProviders } from "../../src/providers/coding-agent.ts"
import { eventsOfType, fakeCliMachine } from "./cli-machines.ts"

const saved = { ...process.env }

afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in saved)) delete process.env[name]
  Object.assign(process.env, saved)
})

async function machine() {
  const place = await fakeCliMachine()
  process.env.PATH = [join(place.folder, "bin"), "/usr/bin", "/bin"].join(delimiter)
  process.env.HOME = place.folder
  for (const name of ["KARST_PROVIDER", "KARST_MODEL", "KARST_AUTOWAIT"]) delete process.env[name]
  const options: CodingAgentOptions = { cwd: place.cwd, maxRetries: 0, autoWait: false }
  return { place, options, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() }
}

test("the list of names is that of the known coding CLIs, in the same order", () => {
  assert.deepEqual(
    knownProviders.map(({ name }) => name),
    cliNames,
  )
})

describe("a coding agent by name", () => {
  test("is every CLI that is installed, Claude Code first", async () => {
    await using at = await machine()
    assert.deepEqual(installedProviders(), ["claude", "codex"])
    await at.place.tell("claude", "fail 500")
    const agent = codingAgent(at.options)
    assert.equal(agent.provider, "claude")
    const result = await agent.run("say hello")
    assert.deepEqual(
      [result.output, eventsOfType(result.trajectory.events, "provider-changed")[0]?.to],
      ["hello 1", "codex"],
    )
    await at.place.uninstall("claude")
    assert.deepEqual(installedProviders(), ["codex"])
    assert.equal(codingAgent(at.options).provider, "codex")
    await at.place.uninstall("codex")
    assert.match((await codingAgent(at.options).run("x").settled).error?.message ?? "", /Claude Code is not installed/)
  })

  test("is the list of KARST_PROVIDER, and an own list before that", async () => {
    await using at = await machine()
    process.env.KARST_PROVIDER = "codex, claude"
    assert.equal(codingAgent(at.options).provider, "codex")
    assert.equal(codingAgent({ ...at.options, provider: ["claude", "codex"] }).provider, "claude")
    assert.equal(codingAgent({ ...at.options, provider: "auto" }).provider, "codex")
    process.env.KARST_PROVIDER = "codex,nobody"
    assert.throws(() => codingAgent(), /unknown coding CLI "nobody"\. There are: claude, codex, opencode, gemini\./)
  })

  test("of one name has no other to fall back on", async () => {
    await using at = await machine()
    await at.place.tell("codex", "fail 500")
    const { status, trajectory } = await codingAgent({ ...at.options, provider: "codex" }).run("say x").settled
    assert.deepEqual([status, eventsOfType(trajectory.events, "provider-changed")], ["failed", []])
    assert.throws(() => codingAgent({ provider: "cursor" }), ConfigError)
    assert.throws(() => codingAgent({ provider: [] }), /the list is empty/)
    assert.throws(() => codingAgent({ provider: ["claude", "codex"], program: "/x" }), /program: it is one CLI's/)
    assert.throws(() => codingAgent({ unheardOf: 1 } as CodingAgentOptions), /no option `unheardOf`/)
  })

  test("uses a model by its own name with the first alone, and a tier with each", async () => {
    await using at = await machine()
    await at.place.tell("claude", "fail 500")
    const modelOf = async (options: CodingAgentOptions, sent = {}) => {
      const { fallback: specs = [] } = await codingAgent({ ...at.options, ...options })
        .with(sent)
        .spec()
      return specs.map(({ model }) => model)
    }
    assert.deepEqual(await modelOf({ model: "opus-9" }), ["opus-9", undefined])
    assert.deepEqual(await modelOf({ model: "fast" }), ["haiku", "gpt-5.4-mini"])
    assert.deepEqual(await modelOf({}, { model: "opus-9" }), ["opus-9", undefined])
    assert.deepEqual(await modelOf({ model: "opus-8" }, { model: "fast" }), ["haiku", "gpt-5.4-mini"])
    const mixed = fallback(claude(at.options), codex({ ...at.options, model: "gpt-9" })).with({ model: "opus-9" })
    assert.deepEqual(
      (await mixed.spec()).fallback?.map(({ model }) => model),
      ["opus-9", "gpt-9"],
    )
    process.env.KARST_MODEL = "opus-9"
    const run = await fallback(claude(at.options), codex(at.options)).run("say x")
    assert.equal(run.status, "done")
    assert.match((await at.place.starts("claude")).join(), /--model opus-9/)
    assert.doesNotMatch((await at.place.starts("codex")).join(), /--model/)
  })
})

describe("the health of a coding CLI", () => {
  test("is that it is not installed, and how to install it", async () => {
    await using at = await machine()
    await at.place.uninstall("codex")
    const health = await codex().checkHealth({ live: true })
    assert.deepEqual([health.installed, health.live], [false, undefined])
    assert.match(health.cure ?? "", /npm install -g @openai\/codex/)
  })

  test("is where it is, which version, and whether it has credentials; nothing is asked", async () => {
    await using at = await machine()
    const health = await claude().checkHealth()
    assert.deepEqual([health.installed, health.version, health.auth?.state], [true, "0.0.1", "missing"])
    assert.equal(health.program, join(at.place.folder, "bin", "claude"))
    assert.deepEqual(await at.place.heard("claude"), [])
    assert.deepEqual(await at.place.processes(), [])
  })

  test("tells of credentials by file and variable, their end, and never their value", async () => {
    await using at = await machine()
    const secret = "sk-very-secret"
    const login = (expiresAt: number) => ({ claudeAiOauth: { accessToken: secret, expiresAt } })
    const file = join(at.place.folder, ".claude", ".credentials.json")
    await mkdir(join(at.place.folder, ".claude"))
    await writeFile(file, JSON.stringify(login(Date.now() + 60_000)))
    const ready = await claude().checkHealth()
    assert.equal(ready.auth?.state, "ready")
    await writeFile(file, JSON.stringify(login(1)))
    assert.equal((await claude().checkHealth()).auth?.state, "expired")
    const byVariable = await claude({ env: { ANTHROPIC_API_KEY: secret } }).checkHealth()
    assert.equal(byVariable.auth?.state, "ready")
    assert.doesNotMatch(JSON.stringify([ready, byVariable]), /very-secret/)
  })

  test("is, live, whether it answers: with no tools, in a folder of its own", async () => {
    await using at = await machine()
    const agent = claude({ ...at.options, instructions: "never sent", allow: ["exec"] })
    assert.deepEqual((await agent.checkHealth({ live: true })).live, { ok: true })
    await at.place.tell("claude", "limit")
    const { live } = await agent.checkHealth({ live: true })
    assert.deepEqual([live?.ok, live?.error?.code], [false, "rate-limited"])
    assert.ok((live?.limited?.until ?? 0) > Date.now())
    await at.place.tell("claude", "exit 4")
    assert.equal((await agent.checkHealth({ live: true })).live?.error?.code, "exit")
    assert.deepEqual(await at.place.processes(), [])
  })

  test("of the account's limit is when that is over; another failure is no answer", async () => {
    await using at = await machine()
    assert.equal(await claude().checkLimit(), undefined)
    await at.place.tell("claude", "limit")
    const limit = await claude().checkLimit()
    assert.equal(limit?.provider, "claude")
    assert.ok((limit?.until ?? 0) > Date.now())
    await at.place.tell("claude", "fail 401")
    await assert.rejects(claude().checkLimit(), { code: "authentication" })
    assert.equal((await fallback(claude(), codex()).checkHealth()).provider, "claude")
  })

  test("of all is one answer each, also of one that is broken", async () => {
    await using at = await machine()
    await writeFile(join(at.place.folder, "bin", "gemini"), "#!/bin/sh\nexit 7\n")
    await chmod(join(at.place.folder, "bin", "gemini"), 0o755)
    const all = await checkHealth()
    assert.deepEqual(
      all.map(({ provider, installed, version }) => [provider, installed, version]),
      [
        ["claude", true, "0.0.1"],
        ["codex", true, "0.0.1"],
        ["opencode", false, undefined],
        ["gemini", true, undefined],
      ],
    )
    const some = await checkHealth({ providers: ["codex", "codex"], live: true })
    assert.deepEqual(
      some.map(({ provider, live }) => [provider, live?.ok]),
      [["codex", true]],
    )
    await assert.rejects(checkHealth({ providers: ["cursor"] }), /unknown coding CLI "cursor"/)
  })
})
