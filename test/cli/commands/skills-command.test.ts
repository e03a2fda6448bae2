// test lane: unit, long
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { mkdir, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { testProject } from "../../config/project-folder.ts"
import { skillText, temporaryFolder } from "../../skills/skill-folders.ts"
import { karst, karstHome } from "../karst.ts"

const skills = (cwd: string, ...args: string[]) => karst(["skills", ...args], {}, cwd)

function git(cwd: string, ...args: string[]): void {
  const identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"]
  execFileSync("git", [...identity, ...args], { cwd, stdio: "ignore" })
}

describe("karst skills list", () => {
  test("prints a line for each skill, and problems apart from them", async (t) => {
    const cwd = await temporaryFolder(t, {
      "skills/a/SKILL.md": skillText("a", '"First.\\e[31m Red."'),
      "skills/bad/SKILL.md": "x",
      ".claude/skills/long-name/SKILL.md": skillText("long-name", "x".repeat(200)),
    })
    const { code, stdout, stderr } = await skills(cwd, "list")
    assert.equal(code, 0)
    assert.equal(
      stdout,
      `a          First. Red.  (skills/a)\nlong-name  ${"x".repeat(79)}…  (.claude/skills/long-name)\n`,
    )
    assert.equal(stderr, 'error: skills/bad/SKILL.md: has no front matter: its first line must be "---"\n')
  })

  test("says where it looked when there are none, and how to add one", async (t) => {
    const cwd = await temporaryFolder(t)
    const { code, stdout, stderr } = await skills(cwd, "list")
    assert.deepEqual([code, stdout], [0, ""])
    assert.equal(
      stderr,
      "karst: There are no skills in `skills` of the configuration, .karst/skills, " +
        `${karstHome}/skills, skills, .agents/skills, .claude/skills. Add one: karst skills add <path | git url> --to ` +
        ".karst/skills. Agents of the project are offered it.\n",
    )
    assert.match((await skills(cwd, "list", ".")).stderr, /^karst: There are no skills in \.\. Add one: /)
  })

  test("also lists what the configuration names and what is in .karst/skills", async (t) => {
    const { folder, env } = await testProject(t, {
      "project/karst.config.json": { skills: ["./shared"] },
      "project/shared/tables/SKILL.md": skillText("tables", "Makes tables."),
      "project/.karst/skills/charts/SKILL.md": skillText("charts", "Draws charts."),
      "home/skills/letters/SKILL.md": skillText("letters", "Writes letters."),
    })
    const { stdout } = await karst(
      ["skills", "list"],
      { KARST_HOME: env.KARST_HOME ?? "", KARST_TRUST_CONFIG: "1" },
      folder,
    )
    assert.match(stdout, /^tables .*\(shared\/tables\)\ncharts .*\(\.karst\/skills\/charts\)\nletters .*\n$/)
  })
})

describe("karst skills validate", () => {
  test("exits with 0 for a skill that can be loaded, also with a warning", async (t) => {
    const cwd = await temporaryFolder(t, { "pdf/SKILL.md": skillText("pdf\nmodel: opus") })
    const { code, stdout, stderr } = await skills(cwd, "validate", "pdf")
    assert.deepEqual([code, stdout], [0, "ok: pdf (pdf)\n"])
    assert.match(stderr, /^warning: pdf\/SKILL\.md: the field "model"/)
  })

  test("exits with 1 and every problem for one that cannot", async (t) => {
    const cwd = await temporaryFolder(t, { "pdf/SKILL.md": "---\nname: Pdf\n---\nx", "empty/x": "" })
    const { code, stderr } = await skills(cwd, "validate", "pdf")
    assert.equal(code, 1)
    assert.match(stderr, /must be lower case\n.*name of its folder.*\n.*description is missing/)
    assert.equal((await skills(cwd, "validate", "empty")).code, 1)
    assert.equal((await skills(cwd, "validate", "nowhere")).code, 1)
  })

  test("is a usage error without a folder, as is an action that does not exist", async (t) => {
    const cwd = await temporaryFolder(t)
    assert.equal((await skills(cwd, "validate")).code, 2)
    assert.match((await skills(cwd, "remove")).stderr, /Unknown command "skills remove"/)
    assert.match((await skills(cwd, "--help")).stdout, /^karst skills: list, check and add skills/)
  })
})

describe("karst skills add", () => {
  test("copies a skill, names the code that it would run, and replaces one only by force", async (t) => {
    const cwd = await temporaryFolder(t, {
      "from/pdf/SKILL.md": skillText("pdf"),
      "from/pdf/injection.mjs": "export const x = 1",
      "from/pdf/scripts/run.sh": "#!/bin/sh",
      "from/pdf/.git/config": "x",
      "from/pdf/node_modules/x/index.js": "x",
    })
    await symlink("scripts/run.sh", join(cwd, "from/pdf/link.sh"))
    const first = await skills(cwd, "add", "from/pdf")
    assert.deepEqual([first.code, first.stderr], [0, ""])
    assert.match(first.stdout, /^Added pdf to skills\/pdf\n {2}It has injection\.mjs, code that is run/)
    assert.deepEqual(readdirSync(join(cwd, "skills/pdf")).sort(), ["SKILL.md", "injection.mjs", "link.sh", "scripts"])
    assert.equal(readFileSync(join(cwd, "skills/pdf/link.sh"), "utf8"), "#!/bin/sh")

    await writeFile(join(cwd, "from/pdf/SKILL.md"), skillText("pdf", "Newer."))
    await writeFile(join(cwd, "skills/pdf/mine.md"), "x")
    const second = await skills(cwd, "add", "from/pdf")
    assert.equal(second.code, 1)
    assert.match(second.stderr, /skills\/pdf exists\. Use --force/)
    assert.equal((await skills(cwd, "add", "from/pdf", "--force")).code, 0)
    assert.match(readFileSync(join(cwd, "skills/pdf/SKILL.md"), "utf8"), /Newer/)
    assert.ok(!existsSync(join(cwd, "skills/pdf/mine.md")))
    assert.deepEqual(readdirSync(join(cwd, "skills")), ["pdf"])
  })

  test("copies nothing when one of several cannot be loaded, is there already or has a link outside", async (t) => {
    const cwd = await temporaryFolder(t, {
      "bad/a/SKILL.md": skillText("a"),
      "bad/b/SKILL.md": "x",
      "linked/c/SKILL.md": skillText("c"),
      "linked/d/SKILL.md": skillText("d"),
    })
    await symlink("/etc/hostname", join(cwd, "linked/d/hosts"))
    for (const folder of ["bad", "linked"]) {
      const { code, stderr } = await skills(cwd, "add", folder)
      assert.equal(code, 1)
      assert.match(stderr, /Nothing was added/)
    }
    assert.ok(!existsSync(join(cwd, "skills")))
    assert.equal((await skills(cwd, "add", "linked", "--skill", "c", "--to", "mine")).code, 0)
    assert.equal((await skills(cwd, "add", "bad", "--skill", "a", "--to", "mine")).code, 0)
    assert.equal((await skills(cwd, "add", "bad", "--skill", "b", "--to", "mine")).code, 2)
    assert.deepEqual(readdirSync(join(cwd, "mine")), ["a", "c"])
    const inPlace = await skills(cwd, "add", "mine/c", "--to", "mine", "--force")
    assert.match(inPlace.stderr, /is where it would be copied to/)
    assert.ok(existsSync(join(cwd, "mine/c/SKILL.md")))
  })

  test("fetches a repository of skills, or one that is a skill, and runs nothing of it", async (t) => {
    const cwd = await temporaryFolder(t, {
      "many/skills/pdf/SKILL.md": skillText("pdf"),
      "many/skills/csv/SKILL.md": skillText("csv"),
      "some-repository/SKILL.md": skillText("one"),
    })
    for (const name of ["many", "some-repository"]) {
      git(join(cwd, name), "init", "-q")
      git(join(cwd, name), "add", ".")
      git(join(cwd, name), "commit", "-qm", "skills")
    }
    // A hook that the user's git template would copy into every clone.
    const home = join(cwd, "home")
    await mkdir(join(home, "hooks"), { recursive: true })
    await writeFile(join(home, "hooks/post-checkout"), `#!/bin/sh\ntouch ${cwd}/hook-ran\n`, { mode: 0o755 })
    await writeFile(join(home, ".gitconfig"), `[core]\n  hooksPath = ${home}/hooks\n`)
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("karst-skills-") && !name.includes("test"))
    const many = await karst(["skills", "add", `file://${cwd}/many`], { HOME: home }, cwd)
    assert.deepEqual([many.code, many.stderr], [0, ""])
    assert.equal(many.stdout, "Added csv to skills/csv\nAdded pdf to skills/pdf\n")
    const one = await karst(["skills", "add", `file://${cwd}/some-repository`], { HOME: home }, cwd)
    assert.equal(one.stdout, "Added one to skills/one\n")
    assert.deepEqual(readdirSync(join(cwd, "skills/one")), ["SKILL.md"])
    assert.ok(!existsSync(join(cwd, "hook-ran")))
    const after = readdirSync(tmpdir()).filter((name) => name.startsWith("karst-skills-") && !name.includes("test"))
    assert.deepEqual(after, before)
  })

  test("refuses other protocols, what looks like an option, and tells why git failed", async (t) => {
    const cwd = await temporaryFolder(t)
    for (const url of [
      "http://example.com/x",
      "ext::sh -c touch% x",
      "git://example.com/x",
      "ssh://-oProxyCommand=x/y",
    ]) {
      const { code, stderr } = await skills(cwd, "add", url)
      assert.equal(code, 2, url)
      assert.match(stderr, /is not fetched/, url)
    }
    const option = await skills(cwd, "add", "--upload-pack=touch x")
    assert.equal(option.code, 2)
    const missing = await skills(cwd, "add", `file://${cwd}/nowhere`)
    assert.equal(missing.code, 2)
    assert.match(missing.stderr, /git could not fetch ".*nowhere"/)
    assert.equal((await skills(cwd, "add", "nowhere")).code, 1)
    assert.equal((await skills(cwd, "add")).code, 2)
  })
})
