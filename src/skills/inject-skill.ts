// Injects the bindings of an activated skill into a runtime, and runs its injection module where that is safe.
import { existsSync } from "node:fs"
import { realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { ConfigError, UnsupportedError } from "../core/errors.ts"
import { isInFolder, isWithin } from "../core/path-within.ts"
import { loadModuleBindings } from "../runtime/bindings/module-bindings.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { Skill } from "../skills.ts"
import { type CodeDigests, importVerified } from "./code-digests.ts"

export interface InjectedSkill {
  names: string[]
  /** An injection module for another language, if that is all the skill has. */
  otherLanguageFile?: string | undefined
}

/** Injects a skill once per runtime. Its code runs now: where cells run, or on the host if it was made there or is
 *  trusted. `writable` are the folders that the agent's tools can write. */
export function injectSkill(skill: Skill, runtime: Runtime, writable: readonly string[]): Promise<InjectedSkill> {
  const done = injectedSkills.get(runtime) ?? new Map<unknown, Promise<InjectedSkill>>()
  injectedSkills.set(runtime, done)
  const key = skill.directory ?? skill
  const known = done.get(key)
  if (known) return known
  const injecting = injectNow(skill, runtime, writable)
  done.set(key, injecting)
  // After a failure, the next call tries again.
  injecting.catch(() => done.delete(key))
  return injecting
}

/** Returns true if a skill has code, which needs a runtime. */
export function hasCode({ bindings, directory }: Skill): boolean {
  if (bindings !== undefined || directory === undefined) return bindings !== undefined
  return Object.values(injectionModules).some((names) => names.some((name) => existsSync(join(directory, name))))
}

const injectedSkills = new WeakMap<Runtime, Map<unknown, Promise<InjectedSkill>>>()

async function injectNow(skill: Skill, runtime: Runtime, writable: readonly string[]): Promise<InjectedSkill> {
  const { bindings, directory, trusted, code } = skill
  if (bindings) return injectBindings(typeof bindings === "function" ? await bindings() : bindings, runtime)
  if (directory === undefined) return { names: [] }
  const { language } = runtime
  const file = await findInjectionModule(directory, language)
  if (file === undefined) {
    const elsewhere = injectionModules[otherLanguage[language]].find((name) => existsSync(join(directory, name)))
    return { names: [], otherLanguageFile: elsewhere }
  }
  const ofCells = runtime.writableFolders?.() ?? []
  refuseWritable([file], ofCells)
  const isTrusted = trusted && language === "typescript"
  if (isTrusted || (runtime.isolation === "none" && runtime.load)) {
    const digests = code ?? throwMissingDigests(directory)
    refuseWritable([file, ...digests.keys()], [...ofCells, ...writable])
    return importVerified(directory, digests, async () => {
      if (!isTrusted && runtime.load) return { names: await runtime.load(file) }
      return injectBindings(await loadModuleBindings(file), runtime)
    })
  }
  if (runtime.load) return { names: await runtime.load(file) }
  throw new UnsupportedError(
    `The skill "${skill.name}" has an injection module, which this runtime cannot load. Use another runtime.`,
  )
}

async function injectBindings(bindings: Record<string, unknown>, runtime: Runtime): Promise<InjectedSkill> {
  await runtime.inject(bindings)
  return { names: Object.keys(bindings) }
}

const otherLanguage = { typescript: "python", python: "typescript" } as const

// JavaScript first: if both exist, it was compiled from the TypeScript, and Node runs it everywhere.
const injectionModules = { typescript: ["injection.mjs", "injection.js", "injection.ts"], python: ["injection.py"] }

async function findInjectionModule(directory: string, language: Runtime["language"]): Promise<string | undefined> {
  for (const name of injectionModules[language]) {
    const path = join(directory, name)
    const real = await realpath(path).catch(() => undefined)
    if (real === undefined) continue
    if (isWithin(directory, real) && (await stat(real)).isFile()) return real
    throw new ConfigError(`"${path}" was not run: it is not a file inside its skill. Put the file itself there.`)
  }
  return undefined
}

/** Refuses code in a folder that the agent can write: it could run its own code on the host. */
function refuseWritable(files: readonly string[], folders: readonly string[]): void {
  for (const folder of folders) {
    const file = files.find((each) => isInFolder(folder, each))
    if (file === undefined) continue
    throw new ConfigError(`"${file}" was not run: the agent can write in "${folder}". Keep the skill outside of it.`)
  }
}

function throwMissingDigests(directory: string): CodeDigests {
  throw new ConfigError(
    `The code in "${directory}" was not run: its files were not read by loadSkills(). Load it by that.`,
  )
}
