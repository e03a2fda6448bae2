// test lane: clis, long
import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { after, before, describe, test } from "node:test"
import type { Check } from "../../../src/cli/doctor/check.ts"
import { isInRange } from "../../../src/cli/doctor/check-packages.ts"
import { fakeCliMachine } from "../../providers/cli-machines.ts"
import { startRedis } from "../../redis.ts"
import { requires } from "../../system.ts"
import { karst, modelServer } from "../karst.ts"

const secret = "sk-very-secret-0123456789"

describe("karst doctor", () => {
  let empty: string
  before(async () => {
    empty = await mkdtemp(join(tmpdir(), "karst-doctor-"))
    // A folder of its own, so that no configuration and no packages of the machine are found there.
    await mkdir(join(empty, ".git"))
  })
  after(() => rm(empty, { recursive: true }))

  // Without a Python of the machine, which would only take time.
  const bare = () => ({ HOME: empty, KARST_PYTHON: join(empty, "no-python") })

  async function doctor(args: string[], env: Record<string, string> = {}, cwd = empty) {
    const { code, stdout, stderr } = await karst(["doctor", "--json", ...args], { ...bare(), ...env }, cwd)
    const checks: Check[] = stdout === "" ? [] : JSON.parse(stdout)
    const find = (name: string) => checks.find((check) => check.name === name) ?? assert.fail(`${name}: ${stderr}`)
    return { code, stdout, stderr, checks, find }
  }

  test("prints a line for each part: ok, missing or broken, and what to do; what is missing is no failure", async () => {
    const { code, stdout } = await karst(["doctor"], bare(), empty)
    assert.equal(code, 0)
    assert.match(stdout, /^ok +node +\d+\.\d+\.\d+, /)
    assert.match(stdout, /^ok +karst +\d+\.\d+\.\d+, /m)
    assert.match(stdout, /^missing +keys .*\n +→ Set OPENAI_API_KEY/m)
    assert.match(stdout, /^missing +model +No model was chosen and no .* in the environment\.\n +→ Set OPENAI_API_KEY/m)
    assert.match(
      stdout,
      /^missing +python +No Python with ipykernel was found \(.*no-python: not there\)\.\n +→ Install it: pip/m,
    )
    // Every line is ok, missing or broken; each that is not ok is followed by what to do.
    const lines = stdout.trimEnd().split("\n")
    for (const [index, line] of lines.entries()) {
      if (/^ +→ /.test(line)) continue
      assert.match(line, /^(ok|missing|broken) /)
      assert.equal(/^ +→ \S/.test(lines[index + 1] ?? ""), !line.startsWith("ok"), line)
    }
    assert.match(stdout, /^ok +ioredis +\d+\S*, for stores in Redis$/m)
    assert.match(stdout, /^(ok|missing) +isolation +(os|process): /m)
  })

  test("fails only for what --need names", async () => {
    const { code, checks, find } = await doctor(["--need", "keys,isolation"])
    assert.equal(code, 1)
    assert.deepEqual([find("keys").state, find("keys").asked, find("python").asked], ["missing", true, false])
    for (const { name, state, remedy = "" } of checks) assert.equal(remedy !== "", state !== "ok", name)
    assert.match(find("python").remedy ?? "", /^Install it: pip install ipykernel/)
  })

  test("names keys, and shows no secret, also not one that a service repeats in its error", async (t) => {
    const { id } = await modelServer(t, [
      (response) => {
        response.writeHead(401, { "content-type": "application/json" })
        response.end(JSON.stringify({ error: { message: `Incorrect API key: ${secret}`, type: "auth" } }))
      },
    ])
    const env = { OPENAI_COMPATIBLE_API_KEY: secret, GROQ_API_KEY: secret, REDIS_URL: "redis://u:hunter22@127.0.0.1:1" }
    const { code, stdout, find } = await doctor(["--live", "--model", id], env)
    assert.equal(code, 1)
    assert.doesNotMatch(stdout, /very-secret|hunter22/)
    assert.deepEqual([find("keys").state, find("keys").text], ["ok", "GROQ_API_KEY"])
    assert.equal(find("model").state, "broken")
    assert.deepEqual([find("redis").state, find("redis").asked], ["broken", true])
    assert.match(find("redis").text, /^redis:\/\/127\.0\.0\.1:1: there is no server/)
  })

  test("--live asks the model", async (t) => {
    const { id, bodies } = await modelServer(t, ["ok"])
    const quiet = await doctor(["--model", id])
    assert.deepEqual([quiet.code, quiet.find("model").state, bodies.length], [0, "ok", 0])
    const { code, find } = await doctor(["--live", "--model", id])
    assert.equal(code, 0)
    assert.deepEqual([find("model").text, bodies.length], ['openai-compatible/test answered "ok"', 1])
  })

  test("reports a mistake in the configuration as a failure, and checks the rest", async () => {
    const project = join(empty, "project")
    await mkdir(project)
    await writeFile(join(project, "karst.config.json"), '{ "modle": "openai/gpt-5.2" }')
    const { code, find } = await doctor([], { KARST_TRUST_CONFIG: "1" }, project)
    assert.equal(code, 1)
    assert.equal(find("config").state, "broken")
    assert.match(find("config").text, /modle/)
    assert.ok(find("config").remedy)
    assert.equal(find("node").state, "ok")
  })

  test("shows version, sign-in and limits of coding CLIs", async () => {
    await using place = await fakeCliMachine()
    const env = { HOME: place.folder, PATH: [join(place.folder, "bin"), "/usr/bin", "/bin"].join(delimiter) }
    const signedOut = (await doctor([], env)).find("claude")
    assert.equal(signedOut.state, "broken")
    assert.match(signedOut.text, /^Claude Code 0\.0\.1, its credentials are missing$/)
    const signedIn = (await doctor([], { ...env, ANTHROPIC_API_KEY: secret })).find("claude")
    assert.deepEqual([signedIn.state, signedIn.text], ["ok", "Claude Code 0.0.1, signed in"])
    await place.tell("claude", "limit")
    const { code, find } = await doctor(["--live", "--need", "claude"], env)
    assert.equal(code, 1)
    assert.equal(find("claude").state, "broken")
    assert.match(find("claude").text, /^Claude Code 0\.0\.1: its usage limit is reached until \d{4}-/)
  })

  test("runs a cell in the Python kernel", { skip: requires("python", "zeromq") }, async () => {
    const { find } = await doctor([], { KARST_PYTHON: "" })
    assert.equal(find("python").state, "ok")
    assert.match(find("python").text, /^3\.\d+\.\d+, \//)
  })

  test("connects to Redis", { skip: requires("redis") }, async () => {
    await using redis = await startRedis()
    const { code, find } = await doctor(["--redis", redis.url])
    assert.equal(code, 0)
    assert.match(find("redis").text, new RegExp(`^\\d+\\.\\d+\\S*, ${redis.url}$`))
  })
})

test("doctor understands the version ranges of package.json", () => {
  assert.deepEqual(
    ["2.0.0", "1.9.0", "1.8.9", "1.10.1", "2.0.0-rc.1"].map((version) => isInRange(version, ">=1.9 <2")),
    [false, true, false, true, false],
  )
  assert.equal(isInRange("7.0.2", "<8"), true)
})
