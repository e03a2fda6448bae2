import assert from "node:assert/strict"
import { chown } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { loadConfig } from "karst/config"
import { sourceFile, testProject } from "./project-folder.ts"

describe("loadConfig", () => {
  test("takes a value from the option, else the environment, else the project, else the user", async (t) => {
    const { folder, env } = await testProject(t, {
      "project/karst.config.json": { model: "openai/project", limits: { cycles: 3 } },
      "home/config.json": { model: "openai/user", agent: "ada", limits: { cycles: 4, costUsd: 2 } },
    })
    const load = async (more: object = {}, overrides: object = {}) =>
      (await loadConfig({ cwd: folder, env: { ...env, ...more }, overrides })).config
    assert.deepEqual(await load(), { model: "openai/project", agent: "ada", limits: { cycles: 3, costUsd: 2 } })
    assert.equal((await load({ KARST_MODEL: "openai/environment" })).model, "openai/environment")
    assert.equal((await load({ KARST_MODEL: "openai/environment" }, { model: "openai/option" })).model, "openai/option")
    assert.deepEqual((await load({ KARST_MAX_CYCLES: "9" })).limits, { cycles: 9, costUsd: 2 })
  })

  test("reads a TypeScript file with defineConfig", async (t) => {
    const { folder, env } = await testProject(t, {
      "project/karst.config.ts": `import { defineConfig } from ${sourceFile("config.ts")}
enum Names { Fast = "fast" }
export default defineConfig({ model: Names.Fast, models: { fast: "openai/gpt-5-mini" } })`,
    })
    const { config } = await loadConfig({ cwd: folder, env })
    assert.deepEqual(config, { model: "fast", models: { fast: "openai/gpt-5-mini" } })
  })

  test("finds the project from a folder inside it, and stops at the repository", async (t) => {
    const { folder, env, write } = await testProject(t, {
      "project/karst.config.json": { model: "openai/a" },
      "project/src/deep/file.txt": "",
    })
    assert.equal((await loadConfig({ cwd: join(folder, "src/deep"), env })).config.model, "openai/a")
    await write({ "project/vendor/other/.git/HEAD": "" })
    assert.equal((await loadConfig({ cwd: join(folder, "vendor/other"), env })).config.model, undefined)
  })

  test("does not take the files of someone else above the working directory", {
    skip: process.getuid?.() === 0 ? undefined : "only root can give files away",
  }, async (t) => {
    const { folder, env } = await testProject(t, { "project/a/b.txt": "", "project/karst.config.json": { agent: "a" } })
    await chown(join(folder, "karst.config.json"), 12345, 12345)
    assert.equal((await loadConfig({ cwd: join(folder, "a"), env })).config.agent, undefined)
    assert.equal((await loadConfig({ cwd: folder, env })).config.agent, "a")
  })

  test("merges models, agents and servers by name, and joins skills and hooks", async (t) => {
    const { folder, home, env } = await testProject(t, {
      "project/karst.config.ts": `export default {
  models: { fast: "openai/project" },
  skills: ["./skills"],
  hooks: { onEvent() {} },
}`,
      "home/config.mjs": `export default {
  models: { fast: "openai/user", slow: "openai/slow" },
  skills: ["skills"],
  hooks: [{ onEvent() {} }],
  mcpServers: { files: { command: "serve" } },
}`,
    })
    const { config } = await loadConfig({ cwd: folder, env })
    assert.deepEqual(config.models, { fast: "openai/project", slow: "openai/slow" })
    assert.deepEqual(config.skills, [join(home, "skills"), join(folder, "skills")])
    assert.equal(Array.isArray(config.hooks) && config.hooks.length, 2)
    assert.deepEqual(config.mcpServers, { files: { command: "serve", cwd: home } })
  })

  test("makes paths absolute from the folder of their file", async (t) => {
    const { folder, env } = await testProject(t, {
      "project/karst.config.json": { archive: ".karst", agents: { coder: { workspace: "./work", skills: ["s"] } } },
    })
    const found = await loadConfig({ cwd: folder, env })
    assert.equal(found.config.archive, join(folder, ".karst"))
    assert.deepEqual(found.config.agents?.coder, { workspace: join(folder, "work"), skills: [join(folder, "s")] })
    const fromHere = await loadConfig({ cwd: folder, env: { ...env, KARST_ARCHIVE: "other" } })
    assert.equal(fromHere.config.archive, join(folder, "other"))
  })

  test("reads no file if a configuration is given", async (t) => {
    const { folder, env } = await testProject(t, { "project/karst.config.json": { model: "openai/a" } })
    const { config, files } = await loadConfig({ cwd: folder, env, config: { agent: "ada" } })
    assert.deepEqual([config, files], [{ agent: "ada" }, []])
  })

  test("loads the file that an option or KARST_CONFIG names, without confirmation", async (t) => {
    const { folder, env } = await testProject(t, { "project/other/my.json": { model: "openai/mine" } })
    const strict = { ...env, KARST_TRUST_CONFIG: undefined }
    assert.equal((await loadConfig({ cwd: folder, env: strict, config: "other/my.json" })).config.model, "openai/mine")
    const named = await loadConfig({ cwd: folder, env: { ...strict, KARST_CONFIG: "other/my.json" } })
    assert.equal(named.config.model, "openai/mine")
    await assert.rejects(
      loadConfig({ cwd: folder, env, config: "none.json" }),
      /There is no configuration file ".*none\.json"/,
    )
  })

  test("names the files that there are or would be", async (t) => {
    const { folder, home, env } = await testProject(t, { "home/config.json": {} })
    assert.deepEqual((await loadConfig({ cwd: folder, env })).files, [
      { source: "project", path: join(folder, "karst.config.ts"), exists: false },
      { source: "user", path: join(home, "config.json"), exists: true },
    ])
  })
})

describe("a mistake in a configuration", () => {
  test("is one error with file, line and the key that was meant", async (t) => {
    const { folder, env } = await testProject(t, {
      "project/karst.config.ts": `const models = {
  "gpt-5.2": { id: "openai/gpt-5.2", contextWindw: 5 },
}

export default {
  models,
  limits: {
    cycles: "many",
  },
  modle: "fast",
}
`,
    })
    const file = join(folder, "karst.config.ts")
    await assert.rejects(loadConfig({ cwd: folder, env }), (error: Error) => {
      assert.equal(error.name, "ConfigError")
      assert.ok(error.message.includes(`${file}:2: there is no option \`models.gpt-5.2.contextWindw\` (did you mean`))
      assert.ok(error.message.includes(`${file}:8: \`limits.cycles\` is not a whole number`))
      assert.ok(error.message.includes(`${file}:10: there is no option \`modle\` (did you mean \`model\`?)`))
      return true
    })
  })

  test("in JSON is reported with line and column", async (t) => {
    const cases: [string, RegExp][] = [
      ['{\n  "model": "a/b",\n}', /:2:17: this is not valid JSON: there is a comma too many before the "}"/],
      ["{\n  // hello\n}", /:2:3: .*JSON has no comments/],
      ["{\n  model: 1\n}", /:2:3: .*a name in double quotes is expected, and there is "model"/],
      ["{ 'model': 1 }", /:1:3: .*double quotes/],
      ['{ "model": tru }', /:1:12: .*a value is expected, and there is "tru"/],
      ['{ "model": "a/b"', /:1:17: .*the file ends here/],
      ["", /:1:1: .*the file ends here/],
    ]
    for (const [text, expected] of cases) {
      const { folder, env } = await testProject(t, { "project/karst.config.json": text })
      await assert.rejects(loadConfig({ cwd: folder, env }), expected, text)
    }
  })

  test("that makes the module throw is reported with its line", async (t) => {
    const { folder, env } = await testProject(t, {
      "project/karst.config.ts": "const a = 1\nthrow new Error('no ' + a)\nexport default {}",
    })
    await assert.rejects(
      loadConfig({ cwd: folder, env }),
      /karst\.config\.ts:2: the configuration could not be loaded: no 1/,
    )
  })

  test("of the syntax is reported with its line", async (t) => {
    const { folder, env } = await testProject(t, { "project/karst.config.mjs": "export default {\n  a: 1,\n  b b\n}" })
    await assert.rejects(
      loadConfig({ cwd: folder, env }),
      /karst\.config\.mjs:3: the configuration could not be loaded/,
    )
  })

  test("in the export says what to export", async (t) => {
    const { folder, env } = await testProject(t, { "project/karst.config.ts": "export const config = {}" })
    await assert.rejects(
      loadConfig({ cwd: folder, env }),
      /there is no default export. Write: export default defineConfig/,
    )
  })

  test("in an environment variable names the variable", async (t) => {
    const { folder, env } = await testProject(t)
    await assert.rejects(
      loadConfig({ cwd: folder, env: { ...env, KARST_MAX_CYCLES: "lots" } }),
      /KARST_MAX_CYCLES: "lots" is not a whole number/,
    )
  })

  test("such as two files in one folder says which to keep", async (t) => {
    const { folder, env } = await testProject(t, { "project/karst.config.json": {}, "project/karst.config.ts": "" })
    await assert.rejects(loadConfig({ cwd: folder, env }), /two configuration files, .*Keep one/)
  })

  test("does not show a secret of a wrong type", async (t) => {
    const { folder, env } = await testProject(t, {
      "project/karst.config.json": { models: { m: { id: "a/b", apiKey: 12345678, headers: { a: 12345678 } } } },
    })
    await assert.rejects(loadConfig({ cwd: folder, env }), (error: Error) => !error.message.includes("12345678"))
  })
})

describe("the entries of a configuration", () => {
  test("have the origin of each value, with file and line or variable", async (t) => {
    const { folder, home, env } = await testProject(t, {
      "project/karst.config.ts": "export default {\n  models: {\n    fast: 'openai/gpt-5-mini',\n  },\n}",
      "home/config.json": '{\n  "agent": "ada"\n}',
    })
    const loaded = await loadConfig({ cwd: folder, env: { ...env, KARST_MODEL: "fast" }, overrides: { archive: "/a" } })
    const rows = loaded.entries().map(({ key, value, origin }) => [key, value, origin])
    assert.deepEqual(rows, [
      ["model", "fast", { source: "environment", variable: "KARST_MODEL" }],
      ["models.fast", "openai/gpt-5-mini", { source: "project", file: join(folder, "karst.config.ts"), line: 3 }],
      ["agent", "ada", { source: "user", file: join(home, "config.json"), line: 2 }],
      ["language", null, { source: "default" }],
      ["providers", null, { source: "default" }],
      ["archive", "/a", { source: "option" }],
    ])
  })

  test("contain names of variables and no secrets", async (t) => {
    const { folder, env } = await testProject(t, {
      "project/karst.config.ts": `export default {
  models: {
    one: { id: "openai/one", apiKey: "\${ONE_KEY}", headers: { Authorization: "Bearer \${ONE}", "x-id": "s3cret" } },
    two: { id: "openai-compatible:https://host/s3cret/v1#two", endpoints: [{ apiKey: "s3cret" }] },
    own: { id: "own", stream() {} },
  },
  mcpServers: {
    a: { command: "serve", args: [
      ...["--token", "s3cret", "--api-key=s3cret", "--port=1", "-H", "Authorization: Bearer s3cret", "-e", "MY_TOKEN=s3cret"],
      ...["--header=X-Api-Key: s3cret", "--env", "PASSWORD: s3cret", "--header", "Authorization:\${HEADER}"],
    ], env: { TOKEN: "s3cret" } },
    b: { url: "https://host/mcp/s3cret?key=s3cret" },
    c: { command: "npx", args: ["-y", "@scope/server", "s3cret", "-ps3cret", "\${TOKEN}", "https://host/s3cret"] },
  },
  agents: { ada: { description: "Counts", approver: () => true } },
  hooks: { onEvent() {} },
}`,
    })
    const entries = (await loadConfig({ cwd: folder, env: { ...env, ONE_KEY: "s3cret" } })).entries()
    const text = JSON.stringify(entries)
    assert.ok(!text.includes("s3cret"), text)
    const values = Object.fromEntries(entries.map(({ key, value }) => [key, value]))
    assert.deepEqual(values["models.one"], {
      id: "openai/one",
      apiKey: "${ONE_KEY}",
      headers: { Authorization: "Bearer ${ONE}", "x-id": "(hidden)" },
    })
    assert.equal(values["models.own"], "(a model made in code)")
    assert.deepEqual(Object(values["mcpServers.a"]).args, [
      ...["--token", "(hidden)", "--api-key=(hidden)", "--port=(hidden)", "-H", "(hidden)", "-e", "(hidden)"],
      ...["--header=(hidden)", "--env", "(hidden)", "--header", "(hidden)${HEADER}"],
    ])
    assert.deepEqual(values["mcpServers.b"], { url: "https://host/mcp/(hidden)?(hidden)" })
    assert.deepEqual(Object(values["mcpServers.c"]).args, [
      ...["-y", "@scope/server", "(hidden)", "(hidden)", "${TOKEN}", "(hidden)"],
    ])
    assert.deepEqual(values["agents.ada"], { description: "Counts", approver: "(a function)" })
    assert.equal(values.hooks, "(1 object of hooks)")
  })
})
