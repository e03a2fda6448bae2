import assert from "node:assert/strict"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import type { Command } from "../../src/cli/command.ts"
import { commands, isGroup } from "../../src/cli/commands.ts"
import { commandHelp } from "../../src/cli/help.ts"
import { authOptions } from "../../src/cli/table/auth.ts"
import { codingCliOptions } from "../../src/cli/table/coding-clis.ts"
import { authProviders } from "../../src/providers/auth/auth.ts"
import { toolGroups } from "../../src/providers/provider.ts"
import { karst } from "./karst.ts"

test("--help teaches by examples and lists every command and the exit codes", async () => {
  const help = await karst(["--help"])
  assert.equal(help.code, 0)
  assert.match(help.stdout, /karst demo\n {6}watch[\s\S]*Work\n {2}run [\s\S]*130 aborted/)
  for (const name of commands.keys()) assert.match(help.stdout, new RegExp(`^ {2}${name} `, "m"))
  assert.deepEqual(await karst(["help"]), help)
})

test("every command has a help text with examples and all its options", () => {
  for (const [path, command] of allCommands()) {
    const help = commandHelp(path, command)
    assert.ok(command.examples.length > 0, path)
    for (const { line } of command.examples) assert.ok(help.includes(line), `${path}: ${line}`)
    for (const name of Object.keys(command.options)) assert.ok(help.includes(`--${name}`), `${path}: --${name}`)
    for (const line of help.split("\n")) assert.ok(line.length <= 100, line)
  }
})

test("the help of a command is the same by --help, -h and help; a group lists its commands", async () => {
  const [long, short, word] = await Promise.all([
    karst(["run", "x", "--help"]),
    karst(["run", "-h"]),
    karst(["help", "run"]),
  ])
  assert.equal(long.code, 0)
  assert.match(long.stdout, /^karst run "<prompt>" \[options\]\n\nRun a prompt[\s\S]*Examples[\s\S]*--max-cycles <n>/)
  assert.deepEqual([short, word], [long, long])
  const group = await karst(["skills", "--help"])
  assert.match(group.stdout, /list \[<folder> …\][\s\S]*validate <folder>[\s\S]*add <path \| git url>/)
  const within = await karst(["skills", "add", "--help"])
  assert.match(within.stdout, /^karst skills add <path \| git url> \[options\][\s\S]*--force/)
})

test("a group that has a list prints it if no command of the group is named", async () => {
  const listed = await karst(["models", "list", "--json"])
  assert.equal(listed.code, 0)
  assert.deepEqual(await karst(["models", "--json"]), listed)
  assert.deepEqual(await karst(["models"]), await karst(["models", "list"]))
  assert.match((await karst(["models", "--help"])).stdout, /\nkarst models alone is karst models list\./)
})

test("the examples of the command table name commands and options that exist", () => {
  for (const [path, { examples }] of allCommands()) {
    for (const { line } of examples) {
      const [, words = ""] = /\bkarst ([^)|>']*)/.exec(line) ?? []
      const [first = "", second = ""] = words.split(" ")
      const entry = commands.get(first)
      assert.ok(entry, `${path}: ${line}`)
      const command = isGroup(entry) ? entry.commands.find(({ name }) => name === second) : entry
      assert.ok(command, `${path}: ${line}`)
      for (const [, option = ""] of words.matchAll(/ --([a-z-]+)/g))
        assert.ok(Object.hasOwn(command.options, option), `${path}: --${option}`)
    }
  }
})

test("the choices of options are those of the parts that use them", () => {
  assert.deepEqual([...codingCliOptions.allow.choices], [...toolGroups])
  assert.deepEqual([...authOptions.agents.choices], [...authProviders])
})

test("--version prints the version of the package and nothing else", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  assert.deepEqual(await karst(["--version"]), { code: 0, signal: null, stdout: `${version}\n`, stderr: "" })
})

const wrong: [what: string, args: string[], says: RegExp][] = [
  [
    "a word that is no command",
    ["dmeo"],
    /Unknown command "dmeo"\. Did you mean karst demo\?.*run, chat, resume, demo.*karst run "dmeo"/,
  ],
  ["no prompt", ["run"], /There is no prompt/],
  ["a command that a group does not have", ["skills", "lst"], /"skills lst"\. Did you mean karst skills list\?/],
  ["a group without a command", ["config"], /Say what to do\. There are: karst config path, /],
  ["an option that no list has", ["models", "--zzz"], /Unknown option --zzz\. See: karst models list --help/],
  ["help for no command", ["help", "rnu"], /Did you mean karst run\?/],
  ["an option that does not exist", ["run", "x", "--zzzzz"], /Unknown option --zzzzz\. See: karst run --help/],
  ["a misspelt option", ["run", "x", "--max-cycle", "3"], /Unknown option --max-cycle\. Did you mean --max-cycles\?/],
  ["a value for a flag", ["run", "x", "--json=yes"], /--json/],
  ["an option without its value", ["run", "x", "--model"], /--model/],
  [
    "a mode that does not exist",
    ["run", "x", "--mode", "loud"],
    /--mode: "loud" is not one of full, short, result, off/,
  ],
  ["a misspelt value", ["run", "x", "--mode", "ful"], /Did you mean "full"\?/],
  ["a misspelt value in a list", ["auth", "status", "--agents", "cluade"], /"cluade" is not one of.*"claude"\?/],
  ["a limit that is no number", ["run", "x", "--max-cycles", "many"], /--max-cycles: "many" is not a whole number/],
  ["a prompt for the demo", ["demo", "do this"], /karst demo takes no arguments, and got "do this"/],
  ["a prompt for prompt", ["prompt", "do this"], /karst prompt takes no arguments/],
  [
    "a model that is no id",
    ["run", "x", "--model", "gpt"],
    /--model names the model "gpt", which is neither in .models. .* nor an id/,
  ],
  ["a model without its key", ["run", "x", "--model", "openai/gpt-5.2"], /needs an API key.*OPENAI_API_KEY/],
  ["no model and no key", ["run", "x"], /No model was chosen[\s\S]*OPENAI_API_KEY[\s\S]*KARST_MODEL[\s\S]*karst demo/],
  ["a folder that cannot be made", ["demo", "--out", "/dev/null/charts"], /--out \/dev\/null\/charts/],
]
for (const [what, args, says] of wrong) {
  test(`${what} is reported in one sentence, with exit code 2`, async () => {
    const { code, stdout, stderr } = await karst(args)
    assert.equal(code, 2)
    assert.match(stderr, says)
    assert.match(stderr, /^karst: /)
    assert.doesNotMatch(stderr, /\n {4}at /)
    assert.equal(stdout, "")
  })
}

test("--verbose shows where an error comes from; without it there is one line", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "karst-test-"))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, "broken.ts"), 'throw new Error("no database")')
  const args = ["mcp", "serve", "broken.ts"]
  const [plain, verbose] = await Promise.all([karst(args, {}, folder), karst([...args, "--verbose"], {}, folder)])
  assert.deepEqual([plain.code, verbose.code], [2, 2])
  assert.equal(plain.stderr, "karst: broken.ts:1 could not be loaded: no database\n")
  assert.match(verbose.stderr, /Caused by: Error: no database\n {4}at .*broken\.ts/)
})

function allCommands(): [path: string, command: Command][] {
  return [...commands.values()].flatMap((entry): [string, Command][] =>
    isGroup(entry)
      ? entry.commands.map((command) => [`${entry.name} ${command.name}`, command])
      : [[entry.name, entry]],
  )
}

test("names and messages of a hostile folder cannot control the terminal", async (t) => {
  const mark = "\x1b]52;c;ZXZpbA==\x07\x1b[2J"
  const folder = mkdtempSync(join(tmpdir(), "karst-hostile-"))
  t.after(() => rmSync(folder, { recursive: true }))
  const project = join(folder, `pro${mark}ject`)
  mkdirSync(join(project, ".karst", "agents"), { recursive: true })
  mkdirSync(join(project, "skills", `sk${mark}ill`), { recursive: true })
  writeFileSync(join(project, ".karst", "agents", "helper.md"), `---\n"a${mark}b": 1\ntools: all\n---\nHelp.`)
  writeFileSync(join(project, ".karst", "agents", `bad${mark}name.md`), "Help.")
  writeFileSync(join(project, "karst.config.json"), JSON.stringify({ [`mod${mark}el`]: 1 }))
  const trust = { KARST_TRUST_CONFIG: "1" }
  const ended = await Promise.all([
    karst([`wo${mark}rd`], {}, project),
    karst(["run", "hi"], {}, project),
    karst(["run", "hi", "--verbose"], trust, project),
    karst(["skills", "validate", "skills"], {}, project),
    karst(["eval", `a${mark}.ts`], {}, project),
  ])
  for (const { stdout, stderr } of ended) {
    assert.notEqual(stdout + stderr, "")
    assert.doesNotMatch(stdout + stderr, controlCharacter)
  }
  rmSync(join(project, "karst.config.json"))
  const { stderr } = await karst(["run", "hi", "--agent", "helper", "--model", "none/none"], {}, project)
  assert.match(stderr, /helper\.md: `tools` is left out/)
  assert.doesNotMatch(stderr, controlCharacter)
})

test("packages of a folder that is not trusted are not loaded", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "karst-hostile-"))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const name of ["zeromq", "node-pty", "typescript", "@ai-sdk/openai", "@ai-sdk/other"]) {
    const path = join(folder, "node_modules", name)
    mkdirSync(path, { recursive: true })
    writeFileSync(join(path, "package.json"), JSON.stringify({ name, version: "1.0.0", main: "index.js" }))
    writeFileSync(
      join(path, "index.js"),
      `require("node:fs").writeFileSync(${JSON.stringify(join(folder, "ran"))}, "")`,
    )
  }
  const run = (model: string, env = {}) =>
    karst(["run", "hi", "--model", model, "--max-cycles", "1"], { OPENAI_API_KEY: "k", ...env }, folder)
  const hasRun = () => existsSync(join(folder, "ran"))
  const doctor = karst(["doctor"], { KARST_PYTHON: join(folder, "no-python") }, folder)
  const [other] = await Promise.all([run("other/one"), doctor])
  assert.match(other.stderr, /"@ai-sdk\/other" is in node_modules of this folder, whose code runs only if you trust it/)
  assert.ok(!hasRun())
  await run("other/one", { KARST_TRUST_CONFIG: "1" })
  assert.ok(hasRun())
  rmSync(join(folder, "ran"))
  writeFileSync(join(folder, "karst.config.json"), "{}")
  await run("other/one")
  assert.ok(!hasRun())
  await karst(["config", "trust"], {}, folder)
  await run("other/one")
  assert.ok(hasRun())
})

const controlCharacter = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/
