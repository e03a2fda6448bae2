// Copies a skill's folder after checking everything in it.
import { copyFile, lstat, mkdir, readdir, realpath, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { isWithin } from "../../../core/path-within.ts"

export interface CopyPlan {
  problems: string[]
  /** Modules that run when the skill is activated. */
  modules: string[]
  /** Copies everything or nothing. */
  copy(): Promise<void>
}

/** Lists the files of a folder before anything is copied. Links to files inside it become files. */
export async function planCopy(folder: string, target: string): Promise<CopyPlan> {
  const plan: Plan = { root: await realpath(folder), files: [], bytes: 0, problems: [] }
  await scanFolder("", plan)
  if (plan.files.length > maxFiles) plan.problems.push(`${folder} has more than ${maxFiles} files`)
  if (plan.bytes > maxBytes) plan.problems.push(`${folder} has more than ${maxBytes} bytes`)
  const real = await realpath(target).catch(() => target)
  if (isWithin(plan.root, real) || isWithin(real, plan.root))
    plan.problems.push(`${folder} is where it would be copied to`)
  return {
    problems: plan.problems,
    modules: plan.files.map(({ path }) => path).filter((path) => /^injection\.(ts|js|mjs|py)$/.test(path)),
    copy: () => copyFiles(plan, target),
  }
}

interface Plan {
  root: string
  files: { path: string; from: string }[]
  bytes: number
  problems: string[]
}

const maxFiles = 5_000
const maxBytes = 200 * 1024 * 1024
const ignoredNames = new Set([".git", "node_modules", "__pycache__"])

async function scanFolder(prefix: string, plan: Plan): Promise<void> {
  const names = (await readdir(join(plan.root, prefix))).filter((name) => !ignoredNames.has(name))
  for (const name of names.sort()) {
    if (plan.files.length > maxFiles) return
    const path = prefix === "" ? name : `${prefix}/${name}`
    const facts = await lstat(join(plan.root, path))
    if (facts.isDirectory()) await scanFolder(path, plan)
    else await scanFile(path, plan)
  }
}

async function scanFile(path: string, plan: Plan): Promise<void> {
  const from = await realpath(join(plan.root, path)).catch(() => undefined)
  if (from === undefined || !isWithin(plan.root, from)) {
    plan.problems.push(`${path} is a link that leads outside the skill, or nowhere`)
    return
  }
  const facts = await stat(from)
  if (!facts.isFile()) {
    plan.problems.push(`${path} is neither a file nor a folder`)
    return
  }
  plan.files.push({ path, from })
  plan.bytes += facts.size
}

async function copyFiles({ files }: Plan, target: string): Promise<void> {
  const temporary = `${target}.adding-${process.pid}`
  try {
    for (const { path, from } of files) {
      await mkdir(dirname(join(temporary, path)), { recursive: true })
      await copyFile(from, join(temporary, path))
    }
    await rm(target, { recursive: true, force: true })
    await rename(temporary, target)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}
