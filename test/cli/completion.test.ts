import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { completeWords } from "../../src/cli/completion.ts"
import { requires } from "../system.ts"
import { karst } from "./karst.ts"

const words = (...line: string[]) => {
  const found = completeWords(line)
  return found === "files" ? found : found.map(({ word }) => word)
}

describe("completion", () => {
  test("offers commands, then the commands of a group", () => {
    assert.ok(words("").includes("run"))
    assert.deepEqual(words("de"), ["demo"])
    assert.deepEqual(words("skills", ""), ["list", "validate", "add"])
    assert.deepEqual(words("help", "ski"), ["skills"])
    assert.deepEqual(words("skills", "nowhere", ""), [])
  })

  test("offers options that are not yet given, and repeated ones again", () => {
    assert.deepEqual(words("run", "x", "--ma"), ["--max-cycles"])
    assert.deepEqual(words("run", "x", "--max-cycles", "3", "--ma"), [])
    assert.deepEqual(words("run", "--data", "a.csv", "--da"), ["--data"])
    assert.deepEqual(words("skills", "add", "--f"), ["--force"])
  })

  test("offers the values of an option, or files", () => {
    assert.deepEqual(words("run", "x", "--mode", "f"), ["full"])
    assert.equal(words("run", "x", "--data", ""), "files")
    assert.deepEqual(words("run", "x", "--model", ""), [])
    assert.deepEqual(words("completion", ""), ["bash", "zsh", "fish"])
    assert.equal(words("claude", "./obj"), "files")
  })

  test("is refused for other shells", async () => {
    const { code, stderr } = await karst(["completion", "tcsh"])
    assert.equal(code, 2)
    assert.match(stderr, /no completion for "tcsh".*bash, zsh, fish/)
  })
})

for (const shell of ["bash", "zsh", "fish"] as const) {
  test(`the script for ${shell} is one that ${shell} accepts`, { skip: requires(shell) }, async () => {
    const { code, stdout } = await karst(["completion", shell])
    assert.equal(code, 0)
    const file = join(mkdtempSync(join(tmpdir(), "karst-completion-")), "script")
    writeFileSync(file, stdout)
    const { status, stderr } = spawnSync(shell, ["-n", file], { encoding: "utf8" })
    rmSync(dirname(file), { recursive: true })
    assert.deepEqual({ status, stderr }, { status: 0, stderr: "" })
  })
}

test("bash completes commands, options, values and files with the script", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "karst-completion-"))
  t.after(() => rmSync(folder, { recursive: true }))
  const bin = fileURLToPath(new URL("../../src/cli/bin.ts", import.meta.url))
  const program = `#!/bin/sh\nexec "${process.execPath}" --conditions=karst-source "${bin}" "$@"\n`
  writeFileSync(join(folder, "karst"), program, { mode: 0o755 })
  writeFileSync(join(folder, "my sales.csv"), "")
  const { stdout: script } = await karst(["completion", "bash"])
  const complete = (...line: string[]) => {
    const quoted = line.map((word) => `'${word}'`).join(" ")
    const asked = `COMP_WORDS=(karst ${quoted}); COMP_CWORD=${line.length}; _karst; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = spawnSync("bash", ["--norc", "-c", `${script}\n${asked}`], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: `${folder}:${process.env.PATH}` },
    })
    return stdout.trim().split("\n")
  }
  assert.deepEqual(complete("ski"), ["skills"])
  assert.deepEqual(complete("run", "--max"), ["--max-cycles"])
  assert.deepEqual(complete("run", "x", "--mode", ""), ["full", "short", "result", "off"])
  assert.deepEqual(complete("run", "x", "--data", "my"), ["my sales.csv"])
})
