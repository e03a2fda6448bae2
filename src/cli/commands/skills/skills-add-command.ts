// `karst skills add <path | git url>`: checks skills, then copies all or none.
import { existsSync } from "node:fs"
import { mkdtemp, rename, rm } from "node:fs/promises"
import { devNull, tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
import { type ProgramFailure, runProgram } from "../../../core/child/child-process.ts"
import { readRegularFile } from "../../../core/read-regular-file.ts"
import { hideUsers } from "../../../core/text/hide-secrets.ts"
import { parseSkillText } from "../../../skills/front-matter.ts"
import { loadSkills, type Skill } from "../../../skills.ts"
import type { Input } from "../../command.ts"
import { printLine, printNotice } from "../../print-text.ts"
import type { addSkillsOptions } from "../../table/skills.ts"
import { UsageError } from "../../usage-error.ts"
import { displayPath, printProblems } from "../skills-command.ts"
import { planCopy } from "./copy-skill.ts"

export async function addSkillsCommand({ values, positionals }: Input<typeof addSkillsOptions>): Promise<number> {
  const [source = ""] = positionals
  const { to = "skills", force } = values
  const skillNames = values.skill.length > 0 ? values.skill : undefined
  const temporary = isRepository(source) ? await mkdtemp(join(tmpdir(), "karst-skills-")) : undefined
  try {
    const from = temporary === undefined ? source : await cloneRepository(source, temporary)
    const { skills, problems } = await loadSkills([from])
    printProblems(problems)
    // With names given, problems of other skills do not matter.
    const broken = !skillNames && problems.some(({ severity }) => severity === "error")
    if (broken) return printFailure("Nothing was added. Name those to add with --skill, or fix the others.")
    return await copyAll(pickSkills(skills, skillNames), to, force)
  } finally {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
  }
}

async function copyAll(skills: readonly Skill[], to: string, force: boolean): Promise<number> {
  if (skills.length === 0) return printFailure("There is no skill to add.")
  const copies = skills.map(({ name, directory = "" }) => ({ name, directory, target: resolve(to, name) }))
  const taken = copies.filter(({ target }) => !force && existsSync(target)).map(({ target }) => displayPath(target))
  if (taken.length > 0) return printFailure(`Nothing was added: ${taken.join(", ")} exists. Use --force to replace it.`)
  const plans = await Promise.all(copies.map(({ directory, target }) => planCopy(directory, target)))
  const problems = plans.flatMap((plan) => plan.problems)
  if (problems.length > 0) return printFailure(`Nothing was added:\n- ${problems.join("\n- ")}`)
  for (const [index, plan] of plans.entries()) {
    await plan.copy()
    const { name = "", target = "" } = copies[index] ?? {}
    printLine(`Added ${name} to ${displayPath(target)}`)
    for (const file of plan.modules) {
      printLine(`  It has ${file}, code that is run when the skill is activated: read it first.`)
    }
  }
  return 0
}

function pickSkills(skills: readonly Skill[], skillNames: readonly string[] | undefined): Skill[] {
  const missing = skillNames?.find((name) => !skills.some((skill) => skill.name === name))
  if (missing === undefined) return skills.filter(({ name }) => skillNames?.includes(name) ?? true)
  throw new UsageError(`--skill: there is no "${missing}". There is ${skills.map(({ name }) => name).join(", ")}.`)
}

function printFailure(message: string): number {
  printNotice(message)
  return 1
}

/** Returns true if git must fetch the source. Excludes hosts with a leading hyphen, which git would take as options. */
function isRepository(source: string): boolean {
  if (/^(https|ssh|file):\/\/[^-]/i.test(source) || /^[\w.][\w.-]*@[\w.][\w.-]*:/.test(source)) return true
  if (/^[a-z+.-]+:(\/\/|:)/i.test(source)) {
    throw new UsageError(
      `"${hideUsers(source)}" is not fetched: use a path, or a git URL with https://, ssh:// or file://.`,
    )
  }
  return source.endsWith(".git") && existsSync(join(source, "HEAD"))
}

/** Clones the newest files of a repository without running its code: no hooks, no submodules, no other protocols. */
async function cloneRepository(url: string, parent: string): Promise<string> {
  const folder = join(
    parent,
    basename(url.replace(/(?<!\/)\/+$/, "").replace(/^.*:/, "")).replace(/\.git$/, "") || "skill",
  )
  const settings = [`core.hooksPath=${devNull}`, "core.fsmonitor=false", "protocol.ext.allow=never"]
  const options = ["--depth=1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--template=", "--quiet"]
  const args = [...settings.flatMap((setting) => ["-c", setting]), "clone", ...options, "--", url, folder]
  const env = { ...process.env, GIT_TERMINAL_PROMPT: "0", GIT_ALLOW_PROTOCOL: "https:ssh:file" }
  try {
    await runProgram("git", args, { env, timeoutMs: 300_000 })
  } catch (error) {
    const { code, stderr } = error as Partial<ProgramFailure>
    if (code === "ENOENT") throw new UsageError("git is not installed, and is needed to fetch a repository.")
    throw new UsageError(`git could not fetch "${hideUsers(url)}": ${hideUsers(stderr?.trim() || String(error))}`)
  }
  return renameAfterSkill(folder, parent)
}

/** Renames a cloned folder to the name of its skill, if the repository itself is the skill. */
async function renameAfterSkill(folder: string, parent: string): Promise<string> {
  // A link of a repository may lead to a device.
  const file = await readRegularFile(join(folder, "SKILL.md"), maxSkillBytes)
  const text = "bytes" in file ? await parseSkillText(file.bytes) : undefined
  const name = text && "fields" in text ? text.fields.name : undefined
  if (typeof name !== "string" || !/^[\p{L}\p{N}-]+$/u.test(name) || name === basename(folder)) return folder
  await rename(folder, join(parent, name))
  return join(parent, name)
}

const maxSkillBytes = 256 * 1024
