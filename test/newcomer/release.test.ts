// test lane: newcomer
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, test } from "node:test"
import { prepareRelease } from "../../scripts/prepare-release.ts"

let parent: string
let folder: string

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "karst-release-"))
  folder = join(parent, "checkout")
  mkdirSync(folder)
  git("init", "--quiet")
  write("package.json", '{ "name": "karst", "version": "1.2.3" }')
  write("package-lock.json", '{ "name": "karst", "version": "1.2.3" }')
  write("CHANGELOG.md", "# Changelog\n\n## 1.2.3\n\n- New.\n\n## 1.2.2\n\n- Old.\n")
  commit()
})

afterEach(() => rmSync(parent, { recursive: true }))

describe("npm run release", () => {
  test("prints the commands that tag and publish with provenance, after the checks and packing", async () => {
    const done: string[] = []
    const { ok, text } = await release(done)
    assert.equal(ok, true, text)
    assert.deepEqual(done, ["check", "pack"])
    assert.match(text, /^ {2}git tag -a v1\.2\.3 /m)
    assert.match(text, /^ {2}npm publish \S+karst-1\.2\.3\.tgz --provenance --access public$/m)
    assert.match(text, /^integrity: sha512-\S+==$/m)
  })

  test("runs again on the tagged commit, as in the workflow that publishes", async () => {
    git("-c", "user.name=n", "-c", "user.email=e@example.com", "tag", "-a", "v1.2.3", "-m", "karst 1.2.3")
    const { ok, text } = await release()
    assert.equal(ok, true, text)
    assert.doesNotMatch(text, /git tag/)
    assert.match(text, /npm publish /)
  })

  test("publishes a preview under another tag than latest", async () => {
    for (const file of ["package.json", "package-lock.json"])
      write(file, '{ "name": "karst", "version": "2.0.0-beta.1" }')
    write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## 2.0.0-beta.1\n\n- New.\n")
    commit()
    assert.match((await release()).text, /--provenance --access public --tag next$/m)
  })

  test("packs nothing when a check fails or changes files", async () => {
    const done: string[] = []
    assert.equal((await release(done, () => false)).ok, false)
    const changed = await release(done, () => {
      write("package-lock.json", "{}")
      return true
    })
    assert.match(changed.text, /The checks changed files[\s\S]*package-lock\.json/)
    assert.deepEqual(done, [])
  })

  const mistakes: { title: string; make: () => void; says: RegExp; uncommitted?: true }[] = [
    {
      title: "a change that is not committed",
      make: () => write("new.ts", "1"),
      says: /not committed[\s\S]*new\.ts/,
      uncommitted: true,
    },
    {
      title: "a version that is none",
      make: () => write("package.json", '{ "name": "karst", "version": "1.2" }'),
      says: /version "1\.2"/,
    },
    {
      title: "another version in the lockfile",
      make: () => write("package-lock.json", '{ "version": "1.2.2" }'),
      says: /package-lock\.json has the version 1\.2\.2 and package\.json 1\.2\.3\. Run: npm version 1\.2\.3/,
    },
    {
      title: "a version whose tag is on another commit",
      make: () => git("tag", "v1.2.3"),
      says: /tag v1\.2\.3 is on another commit/,
    },
    {
      title: "a changelog without the version",
      make: () => write("CHANGELOG.md", "# Changelog\n\n## 1.2.2\n\n- Old.\n"),
      says: /no entries for 1\.2\.3/,
    },
    {
      title: "an empty section of the changelog",
      make: () => write("CHANGELOG.md", "# Changelog\n\n## 1.2.3\n\n## 1.2.2\n\n- Old.\n"),
      says: /no entries for 1\.2\.3/,
    },
    {
      title: "entries that are still called unreleased",
      make: () => write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- Newer.\n\n## 1.2.3\n\n- New.\n"),
      says: /entries under "Unreleased"/,
    },
    {
      title: "a changelog that begins with another version",
      make: () => write("CHANGELOG.md", "# Changelog\n\n## 1.2.4\n\n- Newer.\n\n## 1.2.3\n\n- New.\n"),
      says: /begins with 1\.2\.4/,
    },
  ]

  for (const { title, make, says, uncommitted } of mistakes) {
    test(`refuses ${title}, before any check runs`, async () => {
      make()
      if (!uncommitted) commit()
      const done: string[] = []
      const { ok, text } = await release(done)
      assert.equal(ok, false)
      assert.match(text, says)
      assert.deepEqual(done, [])
    })
  }
})

function release(done: string[] = [], check?: () => boolean): Promise<{ ok: boolean; text: string }> {
  return prepareRelease(folder, {
    check: check ?? (() => done.push("check") > 0),
    async pack() {
      done.push("pack")
      write("../karst-1.2.3.tgz", "packed")
      return join(folder, "../karst-1.2.3.tgz")
    },
  })
}

function write(file: string, text: string): void {
  writeFileSync(join(folder, file), text)
}

function commit(): void {
  git("add", "--all")
  git("-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "--quiet", "--allow-empty", "-m", "Commit")
}

function git(...args: string[]): void {
  execFileSync("git", args, { cwd: folder, stdio: "pipe" })
}
