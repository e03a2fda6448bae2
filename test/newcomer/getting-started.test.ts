// test lane: newcomer, long
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { packedPackage, userEnvironment } from "./packed-package.ts"

const repository = join(import.meta.dirname, "../..")
const sections = readSections(readFileSync(join(repository, "docs/getting-started.md"), "utf8"))

describe("a newcomer without a key", () => {
  let folder: string
  let home: string
  let tarball: string

  before(
    async () => {
      folder = await mkdtemp(join(tmpdir(), "karst-newcomer-"))
      home = join(folder, "home")
      mkdirSync(home)
      tarball = await packedPackage()
    },
    { timeout: 300_000 },
  )

  after(() => rm(folder, { recursive: true }))

  describe("follows the page Getting started", () => {
    let cwd: string

    before(() => {
      cwd = join(folder, "page")
      mkdirSync(cwd)
    })

    for (const { title, steps } of sections.filter(({ steps }) => steps.length > 0)) {
      test(title, { timeout: 300_000 }, () => {
        let printed = ""
        for (const step of steps) {
          if (step.kind === "file") writeFileSync(join(cwd, step.name), step.text)
          else if (step.kind === "output") assert.equal(printed, step.text)
          else ({ cwd, printed } = shell(step.text, cwd))
        }
      })
    }
  })

  test("creates a project, tests it, runs its agent and resumes the session", {
    timeout: 300_000,
  }, () => {
    const project = join(folder, "project")
    mkdirSync(project)
    const { printed: created } = shell("npm install karst\nnpx karst init\nnpm install", project)
    assert.match(created, /written +karst\.config\.ts/)
    const { printed: tested } = shell("npm test", project)
    assert.match(tested, /pass [1-9]/)
    assert.match(tested, /fail 0/)
    const { printed: first } = shell('npx karst run --json "Remind customers who are late"', project)
    const { printed: second } = shell('npx karst resume last --json "Who else is late?"', project)
    for (const printed of [first, second]) assert.match(printed, /"done"/)
  })

  /** Runs lines in a shell that ends at the first failure. Gives what they print and the folder they end in. */
  function shell(lines: string, from: string): { cwd: string; printed: string } {
    const place = join(folder, "place")
    // The registry has another Karst, or none: the name stands for the packed one.
    const script = `set -e\n${lines.replaceAll(/^(npm install) karst$/gm, `$1 '${tarball}'`)}\npwd > '${place}'`
    const options = { cwd: from, env: userEnvironment(home), encoding: "utf8", timeout: 280_000 } as const
    const { status, stdout, stderr } = spawnSync("sh", ["-c", script], options)
    assert.equal(status, 0, `${lines}\n${stdout}${stderr}`)
    return { cwd: readFileSync(place, "utf8").trim(), printed: stdout }
  }
})

test("every file that Getting started names before a block of code is saved, and every shell block is run", () => {
  const page = readFileSync(join(repository, "docs/getting-started.md"), "utf8")
  const steps = sections.flatMap(({ steps }) => steps)
  assert.equal(steps.filter(({ kind }) => kind === "file").length, [...page.matchAll(/^Save this as /gm)].length)
  assert.equal(steps.filter(({ kind }) => kind === "shell").length, [...page.matchAll(/^```sh$/gm)].length)
  assert.ok(steps.some(({ kind }) => kind === "output"))
})

type Step = { kind: "file"; name: string; text: string } | { kind: "shell" | "output"; text: string }

interface Section {
  title: string
  text: string
  steps: Step[]
}

/** The blocks of a page that a reader saves (`ts`, after "Save this as"), runs (`sh`) or compares (`text`), by heading.
 *  Blocks of `console` need a key. */
function readSections(page: string): Section[] {
  return page.split(/^## /m).map((text) => {
    const steps: Step[] = []
    for (const [, before = "", language, body = ""] of text.matchAll(
      /([^\n]*)\n(?:\s*|\n<!--[^\n]*-->\n)```(\w+)\n([\s\S]*?)^```$/gm,
    )) {
      const [, name] = /Save this as `([^`]+)`:$/.exec(before) ?? []
      if (language === "ts" && name) steps.push({ kind: "file", name, text: body })
      if (language === "sh") steps.push({ kind: "shell", text: body })
      if (language === "text") steps.push({ kind: "output", text: body })
    }
    return { title: text.split("\n", 1)[0] ?? "", text, steps }
  })
}
