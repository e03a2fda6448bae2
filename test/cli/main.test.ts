import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { karst } from "./karst.ts"

test("--help lists the commands and the exit codes, each command has its own, and all exit 0", async () => {
  const help = await karst(["--help"])
  assert.equal(help.code, 0)
  assert.match(help.stdout, /karst demo[\s\S]*karst run[\s\S]*karst prompt[\s\S]*130 aborted/)
  for (const [command, option] of [
    ["demo", "--fast"],
    ["run", "--max-cycles"],
    ["prompt", "--data"],
  ] as const) {
    const own = await karst([command, "--help"])
    assert.equal(own.code, 0)
    assert.match(own.stdout, new RegExp(option))
  }
})

test("--version prints the version of the package and nothing else", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  assert.deepEqual(await karst(["--version"]), { code: 0, signal: null, stdout: `${version}\n`, stderr: "" })
})

const wrong: [what: string, args: string[], says: RegExp][] = [
  ["a word that is no command", ["dmeo"], /Unknown command "dmeo".*demo, run, prompt/],
  ["no prompt", ["run"], /There is no prompt/],
  ["an option that does not exist", ["run", "x", "--nope"], /Unknown option '--nope'\. See: karst run --help/],
  ["an option without its value", ["run", "x", "--model"], /--model/],
  [
    "a mode that does not exist",
    ["run", "x", "--mode", "loud"],
    /--mode: "loud" is not one of full, short, result, off/,
  ],
  ["a limit that is no number", ["run", "x", "--max-cycles", "many"], /--max-cycles: "many" is not a whole number/],
  ["a prompt for the demo", ["demo", "do this"], /karst demo takes no prompt/],
  ["a prompt for prompt", ["prompt", "do this"], /takes no prompt/],
  ["a model that is no id", ["run", "x", "--model", "gpt"], /"gpt" is not a model id/],
  ["a model without its key", ["run", "x", "--model", "openai/gpt-5.2"], /needs an API key.*OPENAI_API_KEY/],
  ["no model and no key", ["run", "x"], /No model was chosen[\s\S]*OPENAI_API_KEY[\s\S]*KARST_MODEL[\s\S]*karst demo/],
  ["a folder that cannot be made", ["demo", "--out", "/dev/null/charts"], /--out \/dev\/null\/charts/],
]
for (const [what, args, says] of wrong) {
  test(`${what} is told in one sentence, with exit code 2`, async () => {
    const { code, stdout, stderr } = await karst(args)
    assert.equal(code, 2)
    assert.match(stderr, says)
    assert.match(stderr, /^karst: /)
    assert.doesNotMatch(stderr, /\n {4}at /)
    assert.equal(stdout, "")
  })
}
