// test lane: unit, long
import assert from "node:assert/strict"
import { readFile, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { fileURLToPath } from "node:url"
import { testProject } from "../../config/project-folder.ts"
import { karst } from "../karst.ts"

const files = {
  "project/karst.config.json": { model: "openai/gpt-5.2", limits: { cycles: 7 } },
  "home/config.json": {
    model: "ollama/qwen3",
    models: { own: { id: "openai/gpt-5.4", apiKey: "sk-secret", price: { input: 1, output: 2 } } },
  },
}

async function project(t: TestContext, written: Parameters<typeof testProject>[1] = files) {
  const { folder, home, write } = await testProject(t, written)
  const command = (args: string[], more: Record<string, string> = {}) =>
    karst(args, { KARST_HOME: home, KARST_TRUST_CONFIG: "1", ...more }, folder)
  return { folder, home, write, command }
}

describe("karst config", () => {
  test("path prints the files, also those that do not exist", async (t) => {
    const { folder, home, command } = await project(t, { "home/config.json": {} })
    const { code, stdout } = await command(["config", "path"])
    assert.equal(code, 0)
    assert.equal(stdout, `project  ${folder}/karst.config.ts (does not exist)\nuser     ${home}/config.json\n`)
  })

  test("show prints every value with its origin, and no secret", async (t) => {
    const { folder, home, command } = await project(t)
    const { stdout } = await command(["config", "show"], { KARST_ARCHIVE: "/tmp/sessions" })
    assert.match(stdout, new RegExp(`^model +${folder}/karst\\.config\\.json:2 +openai/gpt-5\\.2$`, "m"))
    assert.match(stdout, new RegExp(`^models\\.own +${home}/config\\.json:\\d+ +\\{"id":"openai/gpt-5\\.4"`, "m"))
    assert.match(stdout, /^archive +KARST_ARCHIVE +\/tmp\/sessions$/m)
    assert.match(stdout, /^agent +default +\(not set\)$/m)
    assert.equal((await command(["config", "show"], { KARST_AGENT: "karst" })).stderr, "", "the built-in agent exists")
    assert.doesNotMatch(stdout, /sk-secret/)
    const entries = JSON.parse((await command(["config", "show", "--json"])).stdout)
    const cycles = entries.find(({ key }: { key: string }) => key === "limits.cycles")
    assert.deepEqual([cycles.value, cycles.origin.source], [7, "project"])
  })

  test("no command prints a secret of the configuration: in addresses, arguments, headers and mistakes", async (t) => {
    const secrets = {
      models: {
        path: { id: "openai/a", baseURL: "https://host/s3cret/v1" },
        id: "openai-compatible:https://host/s3cret/v1#b",
      },
      mcpServers: {
        a: { command: "no-such-program", args: ["--token", "s3cret", "s3cret", "--key=s3cret"], env: { A: "s3cret" } },
        b: { url: "http://127.0.0.1:9/s3cret?key=s3cret", headers: { a: "s3cret" } },
      },
      agents: { ada: { model: "id", mcp: ["a", "b"] } },
    }
    const { write, command } = await project(t, { "project/karst.config.json": secrets })
    const commands = [
      ["config", "show"],
      ["config", "show", "--json"],
      ["models", "list"],
      ["doctor", "--json", "--model", "path", "--redis", "redis://:s3cret@127.0.0.1:9/s3cret"],
      ["run", "Hi", "--agent", "ada"],
      ["run", "Hi", "--model", "openai-compatible:https://ada:s3cret@127.0.0.1:9/s3cret#a"],
      ["run", "Hi", "--model", "openai-compatible:https://127.0.0.1:9/s3cret"],
    ]
    const ended = await Promise.all(commands.map((args) => command(args)))
    for (const [index, { stdout, stderr }] of ended.entries()) {
      assert.doesNotMatch(stdout + stderr, /s3cret/, `karst ${commands[index]?.join(" ")}`)
    }
    for (const model of ["openai-compatible:https://ada:s3cret@host/v1", "https:s3cret@host", "https://host/s3cret#"]) {
      await write({ "project/karst.config.json": { models: { a: model, b: { id: "openai/a", baseURL: model } } } })
      const { code, stderr } = await command(["config", "show"])
      assert.deepEqual([code, /s3cret/.test(stderr)], [2, false], stderr)
    }
  })

  test("a base URL with a query, a fragment or a password is refused with file, line and cure", async (t) => {
    const { folder, write, command } = await project(t, {})
    const place = (line: number) => `${folder}/karst.config.json:${line}: `
    const wrong = {
      a: { id: "openai/a", baseURL: "https://host/v1?key=s3cret" },
      b: { id: "openai/a", endpoints: [{ baseURL: "${HOST}/v1#s3cret" }] },
      c: { id: "openai/a", baseURL: "https://ada:s3cret@host/v1" },
      d: "openai-compatible:https://host/v1?key=s3cret#d",
      e: { id: "openai/a", baseURL: "host/v1" },
    }
    await write({ "project/karst.config.json": { models: wrong } })
    const { code, stderr } = await command(["run", "Hi", "--model", "a"])
    assert.equal(code, 2)
    assert.doesNotMatch(stderr, /s3cret/)
    for (const said of [
      `${place(5)}\`models.a.baseURL\` contains a "?", and the paths of requests would be appended after it. Leave out what begins there, and give a key as \`apiKey\` or in \`headers\``,
      `${place(11)}\`models.b.endpoints.0.baseURL\` contains a "#"`,
      `${place(17)}\`models.c.baseURL\` contains a user name or a password`,
      `${place(19)}\`models.d\` has a base URL that contains a "?"`,
      `${place(22)}\`models.e.baseURL\` is not a base URL. Write it whole, as https://host/v1`,
    ])
      assert.ok(stderr.includes(said), `${said}\n${stderr}`)
    await write({ "project/karst.config.json": {} })
    const given = await command(["models", "set", "big", "openai/a", "--base-url", "https://host/v1?key=s3cret"])
    assert.equal(given.code, 2)
    assert.match(given.stderr, /^karst: --base-url contains a "\?"/)
  })

  test("show prints the origin of the language, and the option, the environment, project and user set it in this order", async (t) => {
    const { folder, home, write, command } = await project(t, { "home/config.json": { language: "zh" } })
    const shown = async (env: Record<string, string> = {}) => {
      const { stdout } = await command(["config", "show"], env)
      return /^language +(.*)$/m.exec(stdout)?.[1]?.replace(/ +/g, " ")
    }
    const isChinese = async (args: string[] = [], env: Record<string, string> = {}) =>
      /工作方式/.test((await command(["prompt", ...args], env)).stdout)
    assert.equal(await shown(), `${home}/config.json:2 zh`)
    assert.equal(await isChinese(), true)
    await write({ "project/karst.config.json": { language: "en" } })
    assert.equal(await shown(), `${folder}/karst.config.json:2 en`)
    assert.equal(await shown({ KARST_LANGUAGE: "zh" }), "KARST_LANGUAGE zh")
    assert.equal(await isChinese([], { KARST_LANGUAGE: "zh" }), true)
    assert.equal(await isChinese(["--language", "en"], { KARST_LANGUAGE: "zh" }), false)
    const wrong = await command(["config", "show"], { KARST_LANGUAGE: "de" })
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /KARST_LANGUAGE: "de" is no language of prompts\. There are: en, zh/)
  })

  test("unknown names are reported with file and line: by show, doctor, run and models", async (t) => {
    const { folder, command } = await project(t, {
      "project/karst.config.json": {
        model: "fst",
        models: { fast: "ollama/qwen3" },
        agent: "adda",
        agents: { ada: { model: "fast", mcp: ["serch"] }, bob: { model: "fast", agents: ["nobody"] } },
        mcpServers: { search: { command: "no-such-program" } },
      },
      "project/.karst/agents/eve.md": "---\nshell: true\nmodel: fast\n---\nYou are Eve.",
    })
    const file = `${folder}/karst.config.json`
    const problems = [
      `${file}:2: \`model\` names the model "fst", which is neither in \`models\` of the configuration nor an id. Did you mean "fast"?`,
      `${file}:6: the default agent "adda" does not exist. Did you mean "ada"?`,
      `${file}:8: mcp: there is no MCP server "serch". Did you mean "search"?`,
      `${file}:14: There is no agent "nobody".`,
      `${folder}/.karst/agents/eve.md: \`shell\` is left out`,
    ]
    const shown = await command(["config", "show"])
    assert.equal(shown.code, 1)
    assert.match(shown.stdout, /^model +/m)
    for (const problem of problems) assert.ok(shown.stderr.includes(problem), `${problem}\n${shown.stderr}`)
    const checks: { name: string; state: string; text: string }[] = JSON.parse(
      (await command(["doctor", "--json"])).stdout,
    )
    const config = checks.find(({ name }) => name === "config")
    assert.equal(config?.state, "broken")
    for (const problem of problems.slice(0, -1))
      assert.ok(config?.text.includes(problem), `${problem}\n${config?.text}`)
    const said = async (...args: string[]) => (await command(args)).stderr
    assert.match(await said("run", "Hi"), /karst\.config\.json:6: There is no agent "adda"\. Did you mean "ada"\?/)
    assert.match(await said("run", "Hi", "--agent", "karst"), /karst\.config\.json:2: `model` names the model "fst"/)
    assert.match(
      await said("run", "Hi", "--agent", "karst", "--model", "fasd"),
      /--model names .* Did you mean "fast"\?/,
    )
    assert.match(await said("models", "list"), /karst\.config\.json:2: `model` names the model "fst"/)
  })

  test("unknown coding CLIs are reported with file, line and suggestion when the configuration is read", async (t) => {
    const { folder, write, command } = await project(t, {})
    const file = `${folder}/karst.config.json`
    await write({ "project/karst.config.json": { providers: ["codex", "claud"], agents: { a: { provider: "codx" } } } })
    const { code, stderr } = await command(["models", "list"])
    assert.equal(code, 2)
    for (const problem of [
      `${file}:4: \`providers.1\` names the unknown coding CLI "claud". Did you mean "claude"? There are: claude, codex`,
      `${file}:8: \`agents.a.provider\` names the unknown coding CLI "codx". Did you mean "codex"?`,
    ])
      assert.ok(stderr.includes(problem), `${problem}\n${stderr}`)
    await write({ "project/karst.config.json": {} })
    const given = await command(["models", "list"], { KARST_PROVIDER: "codex,claud" })
    assert.equal(given.code, 2)
    assert.match(given.stderr, /KARST_PROVIDER: unknown coding CLI "claud"\. Did you mean "claude"\?/)
  })

  test("folders of skills that are missing are reported with file and line, with all other mistakes", async (t) => {
    const { folder, command } = await project(t, {
      "project/karst.config.json": {
        model: "fst",
        skills: ["nowhere"],
        agents: { ada: { model: "ollama/x", skills: ["neither"] } },
      },
    })
    const file = `${folder}/karst.config.json`
    const { code, stderr } = await command(["config", "show"])
    assert.equal(code, 1)
    for (const problem of [
      `${file}:2: \`model\` names the model "fst"`,
      `${file}:3: skills: ${folder}/nowhere: is not there`,
      `${file}:7: skills: ${folder}/neither: is not there`,
    ])
      assert.ok(stderr.includes(problem), `${problem}\n${stderr}`)
  })

  test("a file that is not trusted is refused with the cure, outside of a terminal", async (t) => {
    const { command } = await project(t)
    const { code, stderr } = await command(["config", "show"], { KARST_TRUST_CONFIG: "" })
    assert.equal(code, 2)
    assert.match(stderr, /is new to Karst.*KARST_TRUST_CONFIG=1/)
  })

  test("trust trusts the files of the project and the user as they are now", async (t) => {
    const { folder, home, command } = await project(t)
    const untrusting = { KARST_TRUST_CONFIG: "" }
    const { code, stdout } = await command(["config", "trust"], untrusting)
    assert.equal(code, 0)
    assert.equal(stdout, `trusted  ${folder}/karst.config.json\ntrusted  ${home}/config.json\n`)
    assert.equal((await command(["config", "show"], untrusting)).code, 0)
    await writeFile(join(folder, "karst.config.json"), "{}")
    const changed = await command(["config", "show"], untrusting)
    assert.match(changed.stderr, /has changed since it was last trusted.*karst config trust/)
    assert.equal((await command(["config", "trust", "karst.config.json"], untrusting)).code, 0)
    assert.equal((await command(["config", "show"], untrusting)).code, 0)
  })

  test("trust names the mistake if there is no such file", async (t) => {
    const { command } = await project(t, {})
    assert.match((await command(["config", "trust", "other.ts"])).stderr, /There is no file other\.ts/)
    assert.match((await command(["config", "trust"])).stderr, /There is no configuration file\. See: karst config path/)
  })
})

describe("karst models", () => {
  test("list prints the default, named models and tiers with prices and origins", async (t) => {
    const { command } = await project(t)
    const { stdout } = await command(["models", "list"], { ANTHROPIC_MODEL: "claude-opus-5" })
    assert.match(stdout, /^name +model +input +cached +output +context +origin$/m)
    assert.match(stdout, /^default +openai\/gpt-5\.2 +1\.75 +0\.175 +14 +272,000 +.*karst\.config\.json:2$/m)
    assert.match(stdout, /^own +openai\/gpt-5\.4 +1 +2 +272,000 /m)
    assert.match(stdout, /^claude strongest +claude-opus-5 +5 +0\.5 +25 +1,000,000 +ANTHROPIC_MODEL$/m)
    assert.match(stdout, /^claude fast +haiku +default$/m)
    const all = JSON.parse((await command(["models", "list", "--all", "--json"])).stdout)
    assert.ok(all.some(({ id }: { id: string }) => id === "deepseek/deepseek-v4-pro"))
  })

  test("set names models in the user's configuration, which is trusted then, and unset removes them", async (t) => {
    const { home, command } = await project(t, {})
    const untrusted = { KARST_TRUST_CONFIG: "" }
    const set = await command(["models", "set", "big", "openai/gpt-5.5", "--input", "4", "--output", "20"], untrusted)
    assert.equal(set.code, 0, set.stderr)
    assert.equal((await command(["models", "set", "default", "ollama/qwen3"], untrusted)).code, 0)
    const file = join(home, "config.json")
    assert.deepEqual(JSON.parse(await readFile(file, "utf8")), {
      models: { big: { id: "openai/gpt-5.5", price: { input: 4, output: 20 } } },
      model: "ollama/qwen3",
    })
    assert.equal((await stat(file)).mode & 0o077, 0)
    assert.match((await command(["models", "list"], untrusted)).stdout, /^big +openai\/gpt-5\.5 +4 +20 /m)
    assert.equal((await command(["models", "unset", "big"], untrusted)).code, 0)
    assert.deepEqual(JSON.parse(await readFile(file, "utf8")), { model: "ollama/qwen3" })
    const again = await command(["models", "unset", "big"], untrusted)
    assert.equal(again.code, 2)
    assert.match(again.stderr, /has no model "big"/)
  })

  test("set takes the rest of a price from the price list, and unset goes back to the list", async (t) => {
    const { command } = await project(t, {})
    const row = async () => {
      const { stdout } = await command(["models", "list"])
      return /^big +(.*?) +\S*config\.json:\d+$/m.exec(stdout)?.[1]?.replace(/ +/g, " ")
    }
    assert.equal((await command(["models", "set", "big", "openai/gpt-5.2"])).code, 0)
    assert.equal(await row(), "openai/gpt-5.2 1.75 0.175 14 272,000")
    assert.equal((await command(["models", "set", "big", "openai/gpt-5.2", "--output", "10"])).code, 0)
    assert.equal(await row(), "openai/gpt-5.2 1.75 0.175 10 272,000")
    assert.equal((await command(["models", "unset", "big"])).code, 0)
    assert.equal(await row(), undefined)
    const all: { id: string; price: object }[] = JSON.parse(
      (await command(["models", "list", "--all", "--json"])).stdout,
    )
    assert.deepEqual(all.find(({ id }) => id === "openai/gpt-5.2")?.price, {
      input: 1.75,
      cacheRead: 0.175,
      output: 14,
    })
  })

  test("set and unset change the tiers of coding CLIs, of which list prints each with its origin", async (t) => {
    const { home, folder, write, command } = await project(t, {})
    const file = join(home, "config.json")
    const row = async (name: string, env: Record<string, string> = {}) => {
      const { stdout } = await command(["models", "list"], env)
      return new RegExp(`^${name} +(\\S+) .*?(\\S+)$`, "m").exec(stdout)?.slice(1)
    }
    assert.deepEqual(await row("claude fast"), ["haiku", "default"])
    const set = await command(["models", "set", "claude", "fast", "sonnet"])
    assert.equal(set.stdout, `claude fast: sonnet, in ${file}\n`)
    assert.deepEqual(await row("claude fast"), ["sonnet", `${file}:4`])
    // Each tier has its own origin, and the project has precedence.
    await write({ "project/karst.config.json": { tiers: { claude: { strongest: "opus-9" } } } })
    assert.deepEqual(await row("claude strongest"), ["opus-9", `${folder}/karst.config.json:4`])
    assert.deepEqual(await row("claude fast"), ["sonnet", `${file}:4`])
    const variable = { ANTHROPIC_SMALL_FAST_MODEL: "haiku-9" }
    assert.deepEqual(await row("claude fast", variable), ["haiku-9", "ANTHROPIC_SMALL_FAST_MODEL"])
    const shown = (await command(["config", "show"])).stdout
    assert.match(shown, /^tiers\.claude\.strongest +\S+project\/karst\.config\.json:4 +opus-9$/m)
    assert.match(shown, /^tiers\.claude\.fast +\S+home\/config\.json:4 +sonnet$/m)
    assert.equal(
      (await command(["models", "unset", "claude", "fast"])).stdout,
      `claude fast was removed from ${file}\n`,
    )
    assert.deepEqual(JSON.parse(await readFile(file, "utf8")), {})
    assert.deepEqual(await row("claude fast"), ["haiku", "default"])
    const again = await command(["models", "unset", "claude", "fast"])
    assert.equal(again.code, 2)
    assert.match(again.stderr, /has no model "claude fast"/)
  })

  test("a tier of the configuration is the model that the CLI is started with", async (t) => {
    const agents = { coder: { provider: "claude", model: "fast" } }
    const config = { tiers: { claude: { fast: "sonnet", strongest: "opus-9" } }, agents }
    const { folder, command } = await project(t, { "project/karst.config.json": config })
    const fake = fileURLToPath(new URL("../../fixtures/fake-claude.ts", import.meta.url))
    const script = `#!/bin/sh\necho "$@" >> args\nexec "${process.execPath}" "${fake}" "$@"\n`
    await writeFile(join(folder, "claude"), script, { mode: 0o755 })
    await writeFile(join(folder, "objects.ts"), "export const one = 1\n")
    const env = { PATH: `${folder}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder }
    const lines = [
      ["run", "say Hi", "--provider", "claude", "--model", "fast"],
      ["run", "say Hi", "--agent", "coder"],
      ["claude", "./objects.ts", "say Hi", "--model", "strongest"],
    ]
    for (const line of lines) {
      const { code, stderr, stdout } = await command(line, env)
      assert.equal(code, 0, stderr + stdout)
    }
    const started = (await readFile(join(folder, "args"), "utf8")).match(/--model \S+/g)
    assert.deepEqual(started, ["--model sonnet", "--model sonnet", "--model opus-9"])
  })

  test("set makes a named model the default", async (t) => {
    const { command } = await project(t, { "home/config.json": { models: { fast: "ollama/qwen3" } } })
    const { code, stderr } = await command(["models", "set", "default", "fast"])
    assert.equal(code, 0, stderr)
    assert.match((await command(["models", "list"])).stdout, /^default +ollama\/qwen3 /m)
    const wrong = await command(["models", "set", "default", "fats"])
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /names the model "fats", .* Did you mean "fast"\?/)
  })

  test("set refuses what cannot be: half a price, an id that is none, and a file that is code", async (t) => {
    const { command } = await project(t, { "home/config.ts": "export default {}" })
    const wrong: [string[], RegExp][] = [
      [["big", "openai/no-such-model", "--input", "4"], /price needs both --input and --output/],
      [["claude", "fasst", "haiku"], /There is no tier "fasst"\. Did you mean "fast"\? There are: strongest, fast\./],
      [["cloude", "fast", "haiku"], /There is no coding CLI "cloude"\. Did you mean "claude"\?/],
      [["claude", "fast", "haiku", "--input", "4"], /--input cannot be used here: a tier is only the name of a model/],
      [["big", "gpt-5.5"], /"gpt-5\.5" is not a model id/],
      [["big", "openai/gpt-5.5"], /config\.ts is code/],
    ]
    for (const [args, says] of wrong) {
      const { code, stderr } = await command(["models", "set", ...args])
      assert.equal(code, 2)
      assert.match(stderr, says)
    }
  })
})
