// test lane: unit, long
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { promisify } from "node:util"
import { root } from "../../../scripts/tools.ts"
import { karst } from "../karst.ts"

let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "karst-init-"))
})
after(() => rm(folder, { recursive: true }))

/** Puts this checkout where `npm install` would put the package. */
async function installKarst(project: string): Promise<void> {
  await mkdir(join(project, "node_modules"))
  await symlink(root, join(project, "node_modules/karst"))
}

function run(args: string[], cwd: string): Promise<{ stdout: string }> {
  const env = { PATH: process.env.PATH, HOME: folder, NODE_OPTIONS: "--conditions=karst-source" }
  return promisify(execFile)(process.execPath, args, { cwd, env })
}

const prompts = {
  objects: ["Remind customers who are late", /I reminded Ben and Cleo\./, "Who else is late?", /Nobody is left/],
  tools: ["What is in order 7?", /tent/, "And in order 8?", /lamp/],
} as const

for (const [template, [first, firstAnswer, second, secondAnswer]] of Object.entries(prompts)) {
  describe(`the project of karst init ${template}`, () => {
    let project: string
    before(async () => {
      project = join(folder, template)
      const { code, stdout, stderr } = await karst(["init", template, "--to", template], {}, folder)
      assert.equal(code, 0, stderr)
      assert.match(stdout, new RegExp(`\nNext: cd ${template} && npm install && npm test\n`))
      await installKarst(project)
    })

    test("is an ESM package with a script for its tests", async () => {
      const manifest = JSON.parse(await readFile(join(project, "package.json"), "utf8"))
      assert.deepEqual([manifest.name, manifest.type, manifest.private], [template, "module", true])
      assert.equal(manifest.scripts.test, 'node --test "test/**/*.test.ts"')
      assert.match(manifest.dependencies.karst, /^\^\d+\.\d+\.\d+$/)
    })

    test("has a test that passes without a model", async () => {
      const { stdout } = await run(["--test", "--test-reporter=tap", "test/**/*.test.ts"], project)
      assert.match(stdout, /# fail 0/)
      assert.doesNotMatch(stdout, /# pass 0/)
    })

    test("runs and resumes without a key, and without a question about its configuration", async () => {
      const run = await karst(["run", first, "--mode", "result"], {}, project)
      assert.equal(run.code, 0, run.stderr)
      assert.match(run.stdout, firstAnswer)
      const resumed = await karst(["resume", "last", second, "--mode", "result"], {}, project)
      assert.equal(resumed.code, 0, resumed.stderr)
      assert.match(resumed.stdout, secondAnswer)
      assert.deepEqual((await readdir(join(project, "archive"))).includes("sessions"), true)
    })
  })
}

test("karst doctor finds nothing wrong with a new project", async () => {
  const project = join(folder, "checked")
  assert.equal((await karst(["init", "--to", "checked"], {}, folder)).code, 0)
  await installKarst(project)
  const { code, stdout } = await karst(["doctor"], { KARST_PYTHON: "none" }, project)
  assert.equal(code, 0, stdout)
  assert.match(stdout, /^ok +config +.*karst\.config\.ts$/m)
  assert.match(stdout, /^ok +model +the agent clerk has its own;/m)
})

describe("karst init", () => {
  test("refuses to overwrite files of the project, and then writes nothing", async () => {
    const project = join(folder, "taken")
    await mkdir(join(project, "src"), { recursive: true })
    await writeFile(join(project, "src/clerk.ts"), "mine")
    const { code, stderr } = await karst(["init"], {}, project)
    assert.equal(code, 2)
    assert.match(stderr, /has src\/clerk\.ts already\. Nothing was written\..*--to/)
    assert.deepEqual(await readdir(project), ["src"])
  })

  test("keeps a README.md, and adds to package.json only what it lacks", async () => {
    const project = join(folder, "begun")
    await mkdir(project)
    await writeFile(join(project, "README.md"), "mine")
    const scripts = { start: "node mine.js", test: 'echo "Error: no test specified" && exit 1' }
    const dependencies = { karst: "file:../karst.tgz" }
    await writeFile(join(project, "package.json"), JSON.stringify({ name: "own", scripts, dependencies }))
    const { code, stdout, stderr } = await karst(["init"], {}, project)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^kept {5}README\.md$/m)
    assert.equal(await readFile(join(project, "README.md"), "utf8"), "mine")
    const manifest = JSON.parse(await readFile(join(project, "package.json"), "utf8"))
    assert.deepEqual([manifest.name, manifest.type, manifest.dependencies], ["own", "module", dependencies])
    assert.deepEqual([manifest.scripts.start, manifest.scripts.check], ["node mine.js", "tsc"])
    assert.match(manifest.scripts.test, /^node --test/)
  })

  test("names the problem of a package.json that it cannot use", async () => {
    const project = join(folder, "commonjs")
    await mkdir(project)
    await writeFile(join(project, "package.json"), '{ "type": "commonjs" }')
    const { code, stderr } = await karst(["init"], {}, project)
    assert.equal(code, 2)
    assert.match(stderr, /"type": "commonjs".*needs "type": "module"/)
    assert.deepEqual(await readdir(project), ["package.json"])
  })

  test("suggests the template that was probably meant", async () => {
    const { code, stderr } = await karst(["init", "tool"], {}, folder)
    assert.equal(code, 2)
    assert.match(stderr, /no template "tool"\. Did you mean "tools"\? There are: objects, tools\./)
  })
})
