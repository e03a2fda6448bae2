import { existsSync } from "node:fs"
import { realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { ConfigError, UnsupportedError } from "../core/errors.ts"
import { isInFolder, isWithin } from "../core/paths.ts"
import { moduleBindings } from "../runtime/load-module.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { Skill } from "../skills.ts"
import { type CodeDigests, importChecked } from "./digests.ts"

/** What a skill has put into a runtime. */
export interface Injected {
  names: string[]
  /** The file that it has for runtimes of another language only. */
  elsewhere?: string | undefined
}

/** Puts what a skill brings into a runtime, the first time it is asked to. Its code runs now and not before: where cells
 *  run, or on the host when it was made there or is trusted. `writable` are the folders that the agent's tools can write. */
export function injectSkill(skill: Skill, runtime: Runtime, writable: readonly string[]): Promise<Injected> {
  const done = injected.get(runtime) ?? new Map<unknown, Promise<Injected>>()
  injected.set(runtime, done)
  const key = skill.directory ?? skill
  const known = done.get(key)
  if (known) return known
  const injecting = inject(skill, runtime, writable)
  done.set(key, injecting)
  // What failed may be tried again.
  injecting.catch(() => done.delete(key))
  return injecting
}

/** Whether a skill brings code, which only a runtime can hold. */
export function bringsCode({ bindings, directory }: Skill): boolean {
  if (bindings !== undefined || directory === undefined) return bindings !== undefined
  return Object.values(modules).some((names) => names.some((name) => existsSync(join(directory, name))))
}

const injected = new WeakMap<Runtime, Map<unknown, Promise<Injected>>>()

async function inject(skill: Skill, runtime: Runtime, writable: readonly string[]): Promise<Injected> {
  const { bindings, directory, trusted, code } = skill
  if (bindings) return putIn(typeof bindings === "function" ? await bindings() : bindings, runtime)
  if (directory === undefined) return { names: [] }
  const { language } = runtime
  const file = await moduleIn(directory, language)
  if (file === undefined) {
    const elsewhere = modules[other[language]].find((name) => existsSync(join(directory, name)))
    return { names: [], elsewhere }
  }
  const ofCells = runtime.writable?.() ?? []
  refuseWritable([file], ofCells)
  const isTrusted = trusted && language === "typescript"
  if (isTrusted || (runtime.isolation === "none" && runtime.load)) {
    const digests = code ?? noDigests(directory)
    refuseWritable([file, ...digests.keys()], [...ofCells, ...writable])
    return importChecked(directory, digests, async () => {
      if (!isTrusted && runtime.load) return { names: await runtime.load(file) }
      return putIn(await moduleBindings(file), runtime)
    })
  }
  if (runtime.load) return { names: await runtime.load(file) }
  throw new UnsupportedError(
    `The skill "${skill.name}" has an injection module, which this runtime cannot load. Use another runtime.`,
  )
}

async function putIn(bindings: Record<string, unknown>, runtime: Runtime): Promise<Injected> {
  await runtime.inject(bindings)
  return { names: Object.keys(bindings) }
}

const other = { typescript: "python", python: "typescript" } as const

// JavaScript first: where both are, one was made from the other, and Node runs it anywhere.
const modules = { typescript: ["injection.mjs", "injection.js", "injection.ts"], python: ["injection.py"] }

async function moduleIn(directory: string, language: Runtime["language"]): Promise<string | undefined> {
  for (const name of modules[language]) {
    const path = join(directory, name)
    const real = await realpath(path).catch(() => undefined)
    if (real === undefined) continue
    if (isWithin(directory, real) && (await stat(real)).isFile()) return real
    throw new ConfigError(`"${path}" was not run: it is not a file inside its skill. Put the file itself there.`)
  }
  return undefined
}

/** Refuses code in a folder that the agent can write: it would run on the host, or again later, what the agent wrote there. */
function refuseWritable(files: readonly string[], folders: readonly string[]): void {
  for (const folder of folders) {
    const file = files.find((each) => isInFolder(folder, each))
    if (file === undefined) continue
    throw new ConfigError(`"${file}" was not run: the agent can write in "${folder}". Keep the skill outside of it.`)
  }
}

function noDigests(directory: string): CodeDigests {
  throw new ConfigError(
    `The code in "${directory}" was not run: its files were not read by loadSkills(). Load it by that.`,
  )
}
