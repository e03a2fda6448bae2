// test lane: unit, long
import assert from "node:assert/strict"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { karst, modelServer, startKarst } from "../karst.ts"

const folder = await mkdtemp(join(tmpdir(), "karst-files-"))
const env = { KARST_HOME: join(folder, "home") }

before(async () => {
  await mkdir(join(folder, "folder"))
  for (const name of ["pipe", "pipe.csv", "pipe.ts", "pipe.json"]) execFileSync("mkfifo", [join(folder, name)])
  for (const name of ["zero.png", "zero.csv"]) await symlink("/dev/zero", join(folder, name))
  for (const name of ["huge.png", "huge.csv", "huge.json"]) {
    await writeFile(join(folder, name), "")
    await truncate(join(folder, name), 3_000_000_000)
  }
  await writeFile(join(folder, "binary"), Buffer.from([2, 0, 255, 10]))
  await writeFile(join(folder, "empty.json"), "")
  await writeFile(join(folder, "empty.jsonl"), "")
  await writeFile(join(folder, "other.json"), '{"a":1}')
  await writeFile(join(folder, "other.jsonl"), '\n{"a":1}\n')
  await writeFile(join(folder, "store.db"), "SQLite format 3\0")
})
after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

/** Tests each line: the arguments, and what the command says before it ends with exit code 2. */
function check(cases: readonly (readonly [args: string, says: RegExp])[]): void {
  for (const [args, says] of cases) {
    test(`karst ${args}`, async () => {
      const { code, stdout, stderr } = await karst(args.split(" "), env, folder)
      assert.equal(code, 2, `${stdout}${stderr}`)
      assert.match(stderr, says)
      assert.doesNotMatch(stderr, /loadSession|--verbose|import attribute/)
    })
  }
}

describe("a command that gets the wrong kind of file or id", () => {
  describe("reads no pipe, device, folder or huge file as --image, --system or --data, and waits for nothing", () =>
    check([
      ["run x --model ollama/x --image pipe", /--image pipe is not a file, but a pipe or a device\. Write its content/],
      ["run x --model ollama/x --image zero.png", /--image zero\.png is not a file, but a pipe or a device/],
      ["run x --model ollama/x --image huge.png", /--image huge\.png has 3000000000 bytes; the most is 20000000\./],
      ["run x --model ollama/x --image folder", /--image folder is not a file, but a folder\./],
      ["run x --model ollama/x --system @pipe", /--system @pipe is not a file, but a pipe or a device/],
      ["run x --model ollama/x --system @/dev/zero", /--system @\/dev\/zero is not a file, but a pipe or a device/],
      ["run x --model ollama/x --system @huge.png", /--system @huge\.png has 3000000000 bytes; the most is 1000000\./],
      ["run x --model ollama/x --data pipe.csv", /--data pipe\.csv is not a file, but a pipe or a device/],
      ["run x --model ollama/x --data zero.csv", /--data zero\.csv is not a file, but a pipe or a device/],
      ["run x --model ollama/x --data huge.csv", /--data huge\.csv has 3000000000 bytes; the most is 100000000\./],
    ]))

  describe("imports no pipe, folder or other file as a module or a configuration", () =>
    check([
      ["run x --agent ./pipe.ts", /--agent: \.\/pipe\.ts is not a file\. Name a module: a \.ts or \.js file\./],
      ["run x --agent ./other.json", /--agent: \.\/other\.json is no module/],
      ["run x --model ollama/x --tools other.json", /--tools: other\.json is no module\. Name a \.ts or \.js file\./],
      ["eval folder", /folder is not a file/],
      ["mcp serve pipe.ts", /pipe\.ts is not a file/],
      ["run x --config pipe.json", /The configuration ".*pipe\.json" is not a file, but a pipe or a device/],
      ["run x --config huge.json", /The configuration ".*huge\.json" has 3000000000 bytes/],
      ["config trust folder", /folder is not a file\. Name a configuration file/],
      ["init --to other.json", /--to: other\.json is not a folder/],
    ]))

  describe("names a file that is no trajectory, and what was expected", () =>
    check([
      [
        "trajectory show binary",
        /^karst: "binary" is no JSON\. A trajectory is a file that `session\.save\(path\)` or/,
      ],
      ["trajectory show empty.json", /^karst: "empty\.json" is empty\. A trajectory is/],
      ["trajectory show other.json", /^karst: "other\.json" is no trajectory of version 1, and none of caw\./],
      [
        "trajectory show empty.jsonl",
        /^karst: empty\.jsonl contains no events\. `karst run --json` writes such a file\./,
      ],
      ["trajectory show other.jsonl", /^karst: Line 2 of other\.jsonl is no event of a run\./],
      ["trajectory show pipe", /^karst: "pipe" is not a file, but a pipe or a device/],
      ["trajectory show folder", /^karst: folder is not the folder of one session\..* <id> --store folder$/m],
      ["trajectory show store.db", /^karst: store\.db is a store\. .* <id> --store sqlite:store\.db$/m],
    ]))

  describe("says what an id or a path is that names no session, run or store", () =>
    check([
      ["sessions show run_1", /"run_1" is the id of a run, not of a session\. See: karst runs show run_1/],
      ["resume other.json", /other\.json is a path, not the id of a session\. .*karst trajectory show other\.json/],
      ["replay run_1", /"run_1" is the id of a run/],
      ["chat --session run_1", /"run_1" is the id of a run/],
      ["runs show s_1 --store sqlite:runs.db", /there is no file runs\.db/],
      ["sessions list --store other.json", /--store: other\.json is not a folder\. .*--store sqlite:other\.json/],
      ["run x --model ollama/x --store pipe", /--store: pipe is not a folder/],
    ]))
})

describe("standard input", () => {
  test("that never ends is refused after a bounded amount", async (t) => {
    for (const [args, says] of [
      [["run", "--model", "ollama/x"], /Standard input has more than 10000000 bytes\. Write it to a file/],
      [["run", "Sum up", "-", "--model", "ollama/x"], /Standard input has more than 10000000 bytes/],
      [["chat", "--model", "ollama/x"], /A line of standard input has more than 10000000 characters/],
    ] as const) {
      const { child, ended } = startKarst([...args], env, folder)
      const source = spawn("cat", ["/dev/zero"])
      t.after(() => source.kill())
      source.stdout.pipe(child.stdin).on("error", () => source.kill())
      const { code, stderr } = await ended
      assert.equal(code, 2, stderr)
      assert.match(stderr, says)
      source.kill()
      if (source.exitCode === null && source.signalCode === null) await once(source, "exit")
    }
  })

  test("is a prompt of several chunks, with characters that are split between them", async (t) => {
    const { id, bodies } = await modelServer(t, ["Hi."])
    const { child, ended } = startKarst(["chat", "--model", id, "--store", "off"], env, folder)
    const bytes = Buffer.from("Grüße\r\n/cost\nÜber")
    for (const byte of bytes) child.stdin.write(Buffer.from([byte]))
    child.stdin.end()
    assert.equal((await ended).code, 0)
    assert.match(bodies[0] ?? "", /"Grüße\\n/)
    assert.match(bodies[1] ?? "", /"Über\\n/)
  })
})
