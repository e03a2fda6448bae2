import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { after, before, describe, test } from "node:test"
import { promisify } from "node:util"
import { installInto, pack } from "../scripts/pack.ts"

const program = `
import { createAgent, jsRuntime, scripted } from "karst"
import { display } from "karst/display"
const tasks: string[] = []
const model = scripted(["\`\`\`ts\\ntasks.push('packed')\\n\`\`\`", "Added."])
const result = await display(createAgent({ model, runtime: jsRuntime({ tasks }) }).run("Add a task"), { mode: "off" })
console.log(result.status, result.output, tasks)
`

describe("the packed tarball in an empty folder", () => {
  let folder: string
  let project: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-package-"))
    project = join(folder, "project")
    await installInto(project, [await pack(folder)])
    await writeFile(join(project, "program.ts"), program)
  })

  after(() => rm(folder, { recursive: true }))

  test("imports and runs an agent", async () => {
    assert.equal(await run(process.execPath, ["program.ts"]), "done Added. [ 'packed' ]\n")
  })

  test("brings the karst command, with its help and its demo", async () => {
    assert.match(await run("node_modules/.bin/karst", ["--help"]), /karst run/)
    assert.match(await run("node_modules/.bin/karst", ["demo"]), /replayed/)
  })

  test("has types that a strict project accepts", async () => {
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"]
    const roots = ["--typeRoots", join(dirname(import.meta.dirname), "node_modules/@types")]
    const tsc = join(dirname(import.meta.dirname), "node_modules/typescript/bin/tsc")
    assert.equal(await run(process.execPath, [tsc, ...options, ...roots, "program.ts"]), "")
  })

  async function run(file: string, args: string[]): Promise<string> {
    // The command finds its Node by the path, and the system's may be too old.
    const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`
    const { stdout } = await promisify(execFile)(file, args, { cwd: project, env: { PATH } })
    return stdout
  }
})
