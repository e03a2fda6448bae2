import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdir, symlink } from "node:fs/promises"
import { basename, join } from "node:path"
import { test } from "node:test"
import { loadSkills, skill } from "karst"
import { skillText, temporaryFolder } from "./skill-folders.ts"

const names = async (...sources: Parameters<typeof loadSkills>[0]) =>
  (await loadSkills(sources)).skills.map(({ name }) => name)

test("a source is a SKILL.md, a skill's folder, or a folder of them however deep, and the order is that of the paths", async (t) => {
  const root = await temporaryFolder(t, {
    "zeta/SKILL.md": skillText("zeta"),
    "alpha/SKILL.md": skillText("alpha"),
    "group/inner/beta/SKILL.md": skillText("beta"),
    "old/skill.md": skillText("old"),
    "README.md": "no skill",
  })
  assert.deepEqual(await names(root), ["alpha", "beta", "old", "zeta"])
  assert.deepEqual(await names(join(root, "zeta"), join(root, "alpha/SKILL.md")), ["zeta", "alpha"])
  assert.deepEqual(await names(join(root, "zeta"), root), ["zeta", "alpha", "beta", "old"])
})

test("hidden folders, node_modules and what is inside a skill are not looked into", async (t) => {
  const root = await temporaryFolder(t, {
    "a/SKILL.md": skillText("a"),
    "a/references/b/SKILL.md": skillText("b"),
    ".hidden/c/SKILL.md": skillText("c"),
    "node_modules/d/SKILL.md": skillText("d"),
  })
  assert.deepEqual(await names(root), ["a"])
})

test("every bad skill is reported and the good ones are loaded", async (t) => {
  const root = await temporaryFolder(t, {
    "bad/SKILL.md": "no front matter",
    "good/SKILL.md": skillText("good"),
    "wrong/SKILL.md": skillText("right"),
  })
  const { skills, problems } = await loadSkills([root, join(root, "nowhere"), join(root, "good/../bad/SKILL.md")])
  assert.deepEqual(
    skills.map(({ name }) => name),
    ["good"],
  )
  assert.deepEqual(
    problems.map(({ path, severity }) => `${severity} ${path.slice(root.length + 1)}`),
    ["error bad/SKILL.md", "error wrong/SKILL.md", "error nowhere"],
  )
})

test("a file that is no SKILL.md is refused, and an empty folder is told of", async (t) => {
  const root = await temporaryFolder(t, { "notes.md": "x" })
  const { problems } = await loadSkills([join(root, "notes.md"), root])
  assert.match(problems[0]?.message ?? "", /is not a SKILL.md/)
  assert.deepEqual(
    problems.map(({ severity }) => severity),
    ["error", "warning"],
  )
})

test("of two skills with one name the first is used, and that is said", async (t) => {
  const root = await temporaryFolder(t, {
    "ours/pdf/SKILL.md": skillText("pdf", "Ours."),
    "theirs/pdf/SKILL.md": skillText("pdf", "Theirs."),
  })
  const { skills, problems } = await loadSkills([join(root, "theirs"), root])
  assert.deepEqual(
    skills.map(({ description }) => description),
    ["Theirs."],
  )
  assert.deepEqual(
    problems.map(({ severity }) => severity),
    ["warning"],
  )
  assert.match(problems[0]?.message ?? "", /left out: a skill "pdf" comes before it \(.*theirs.pdf\)/)
})

test("a link that leads outside, to itself, to a folder it is in or nowhere is reported and not followed", async (t) => {
  const elsewhere = await temporaryFolder(t, { "out/SKILL.md": skillText("out") })
  const root = await temporaryFolder(t, { "group/in/SKILL.md": skillText("in") })
  await symlink(elsewhere, join(root, "a-outside"))
  await symlink("b-itself", join(root, "b-itself"))
  await symlink("..", join(root, "group/c-loop"))
  await symlink("nowhere", join(root, "d-broken"))
  const { skills, problems } = await loadSkills([root])
  assert.deepEqual(
    skills.map(({ name }) => name),
    ["in"],
  )
  assert.deepEqual(
    problems.map(({ path, severity }) => `${severity} ${basename(path)}`),
    ["warning a-outside", "warning b-itself", "warning d-broken", "warning c-loop"],
  )
})

test("a link that stays inside is followed, once", async (t) => {
  const root = await temporaryFolder(t, { "store/pdf/SKILL.md": skillText("pdf") })
  await symlink("store/pdf", join(root, "again"))
  const { skills, problems } = await loadSkills([root])
  assert.deepEqual(
    skills.map(({ name }) => name),
    ["pdf"],
  )
  assert.deepEqual(problems, [])
})

test("a source may itself be a link, because its owner named it", async (t) => {
  const root = await temporaryFolder(t, { "pdf/SKILL.md": skillText("pdf") })
  const link = join(await temporaryFolder(t), "link")
  await symlink(root, link)
  assert.deepEqual(await names(link), ["pdf"])
})

test("a SKILL.md that is a link outside, a folder or a pipe is an error and hangs nothing", async (t) => {
  const elsewhere = await temporaryFolder(t, { "SKILL.md": skillText("linked") })
  const root = await temporaryFolder(t)
  for (const name of ["linked", "folder", "pipe"]) await mkdir(join(root, name))
  await symlink(join(elsewhere, "SKILL.md"), join(root, "linked/SKILL.md"))
  await mkdir(join(root, "folder/SKILL.md"))
  execFileSync("mkfifo", [join(root, "pipe/SKILL.md")])
  const { skills, problems } = await loadSkills([root])
  assert.deepEqual(skills, [])
  assert.deepEqual(
    problems.map(({ message }) => message),
    [
      "is not a file, but a folder",
      "is a link that leads outside its folder, and is not followed",
      "is not a file, but a pipe or a device. Write its content to a file",
    ],
  )
})

test("a tree that is too deep is told of where it was left", async (t) => {
  const root = await temporaryFolder(t, { "1/2/3/4/5/6/7/pdf/SKILL.md": skillText("pdf") })
  const { problems } = await loadSkills([root])
  assert.match(problems[0]?.message ?? "", /more than 6 folders down/)
})

test("the files of a skill are listed and read; what is outside, hidden by dots or too large is not", async (t) => {
  const elsewhere = await temporaryFolder(t, { "secret.txt": "secret" })
  const root = await temporaryFolder(t, {
    "pdf/SKILL.md": skillText("pdf"),
    "pdf/injection.ts": "export const x = 1",
    "pdf/references/forms.md": "forms",
    "pdf/scripts/fill.py": "print()",
    "pdf/assets/huge.bin": new Uint8Array(17 * 1024 * 1024),
    "pdf/.env": "KEY=1",
  })
  await symlink(join(elsewhere, "secret.txt"), join(root, "pdf/references/secret.txt"))
  await symlink("forms.md", join(root, "pdf/references/alias.md"))
  const { skills } = await loadSkills([root])
  const [pdf] = skills
  assert.ok(pdf)
  assert.deepEqual(
    (await pdf.files()).map(({ path }) => path),
    ["assets/huge.bin", "references/alias.md", "references/forms.md", "scripts/fill.py"],
  )
  const read = async (path: string) => Buffer.from(await pdf.read(path)).toString()
  assert.equal(await read("references/forms.md"), "forms")
  assert.equal(await read("references/alias.md"), "forms")
  for (const [path, why] of [
    ["../../etc/passwd", /".."/],
    ["references/../../x", /".."/],
    ["/etc/passwd", /must begin in the skill's folder/],
    ["C:\\x", /must begin in the skill's folder/],
    ["references\\forms.md", /must begin/],
    ["a\0b", /must begin/],
    ["", /must be the path/],
    [".env", /is hidden/],
    ["references/.git/config", /is hidden/],
    ["references", /is not a file/],
    ["references/nope.md", /is not there/],
    ["references/secret.txt", /leads outside/],
    ["assets/huge.bin", /17825792 bytes; the most/],
  ] as const) {
    await assert.rejects(pdf.read(path), why, path)
  }
})

test("a skill made in code is checked at once, with every problem", () => {
  assert.throws(
    () => skill({ name: "Bad Name", description: "", instructions: "x", files: { "../x": "y" } }),
    /lower case.*letters, digits.*description is missing.*"\.\.\/x"/,
  )
})

test("a skill made in code has files and stands beside those from folders", async (t) => {
  const root = await temporaryFolder(t, { "pdf/SKILL.md": skillText("pdf") })
  const made = skill({ name: "made", description: "Made.", instructions: "Do.", files: { "b.md": "b", "a.md": "aa" } })
  assert.deepEqual(await names(made, root, made), ["made", "pdf"])
  assert.deepEqual(await made.files(), [
    { path: "a.md", sizeBytes: 2 },
    { path: "b.md", sizeBytes: 1 },
  ])
  assert.equal(Buffer.from(await made.read("b.md")).toString(), "b")
  await assert.rejects(made.read("c.md"), /is not there/)
})
