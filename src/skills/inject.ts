import { existsSync, realpathSync } from "node:fs"
import { realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { ConfigError, UnsupportedError } from "../core/errors.ts"
import { isWithin } from "../core/paths.ts"
import { moduleBindings } from "../runtime/load-module.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { Skill } from "../skills.ts"

/** What a skill has put into a runtime. */
export interface Injected {
  names: string[]
  /** The file that it has for runtimes of another language only. */
  elsewhere?: string | undefined
}

/** Puts what a skill brings into a runtime, the first time it is asked to. Its code runs now and not before: where cells
 *  run, or on the host when it was made there or is trusted. */
export function injectSkill(skill: Skill, runtime: Runtime): Promise<Injected> {
  const done = injected.get(runtime) ?? new Map<unknown, Promise<Injected>>()
  injected.set(runtime, done)
  const key = skill.directory ?? skill
  const known = done.get(key)
  if (known) return known
  const injecting = inject(skill, runtime)
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

async function inject(skill: Skill, runtime: Runtime): Promise<Injected> {
  const { bindings, directory, trusted } = skill
  if (bindings) return putIn(typeof bindings === "function" ? await bindings() : bindings, runtime)
  if (directory === undefined) return { names: [] }
  const { language } = runtime
  const file = await moduleIn(directory, language)
  if (file === undefined) {
    const elsewhere = modules[other[language]].find((name) => existsSync(join(directory, name)))
    return { names: [], elsewhere }
  }
  refuseWritable(file, runtime)
  if (trusted && language === "typescript") return putIn(await moduleBindings(file), runtime)
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

/** Refuses to run a file from where the agent itself can write: it would run what the agent wrote, with more rights. */
function refuseWritable(file: string, runtime: Runtime): void {
  const folder = runtime.writable?.().find((each) => isWithin(withoutLinks(each), file))
  if (folder === undefined) return
  throw new ConfigError(`"${file}" was not run: cells can write in "${folder}". Keep the skill outside of it.`)
}

function withoutLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
