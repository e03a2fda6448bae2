// Agent Skills: instructions for kinds of tasks, with files and code. The public module.
import * as check from "./core/checks/check-options.ts"
import { ConfigError } from "./core/errors.ts"
import type { Bindings } from "./runtime/bindings.ts"
import type { SkillFile } from "./skills/skill-files.ts"
import { checkSkillProperties, type Finding, pathProblem } from "./skills/skill-properties.ts"

export type { SkillFile } from "./skills/skill-files.ts"

/** Instructions for a kind of task. The model sees the name and description from the start, the instructions when it
 *  activates the skill, and the files when it asks for them. */
export interface Skill {
  readonly name: string
  readonly description: string
  readonly instructions: string
  readonly license?: string | undefined
  readonly compatibility?: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  /** The tools that the author would allow. For information only: Karst asks for approval at the call. */
  readonly allowedTools: readonly string[]
  /** Whether the model may activate it. */
  readonly offered: boolean
  /** The folder it was read from, links resolved. Its `injection.ts`, `.js`, `.mjs` or `.py` runs at activation. */
  readonly directory?: string | undefined
  /** SHA-256 of each code file when the skill was loaded, by absolute path. Only these bytes run on the host. */
  readonly code?: ReadonlyMap<string, string> | undefined
  /** Whether its injection module may run on the host even if cells run elsewhere. */
  readonly trusted: boolean
  /** Bindings that are injected at activation; a function creates them for each runtime. */
  readonly bindings?: SkillBindings | undefined
  /** The files besides the instructions, sorted by path. */
  files(): Promise<SkillFile[]>
  /** Returns the bytes of a file by its path in the skill. Throws if it is missing, too large or outside the folder. */
  read(path: string): Promise<Uint8Array>
}

export type SkillBindings = Bindings | (() => Bindings | Promise<Bindings>)

/** A skill made in code, or the path of a SKILL.md, of a skill's folder, or of a folder of skills. */
export type SkillSource = string | URL | SkillPath | Skill

export interface SkillPath {
  path: string | URL
  /** Lets injection modules from there run on the host and provide live objects to any runtime. Default false. */
  trusted?: boolean | undefined
}

export interface SkillOptions {
  /** Lower-case letters, digits and single hyphens, at most 64 characters. */
  name: string
  /** What it does and when to use it, at most 1024 characters. */
  description: string
  /** The text that the model gets when it activates the skill. */
  instructions: string
  /** The license of the skill. */
  license?: string | undefined
  /** What the skill requires, such as programs. */
  compatibility?: string | undefined
  /** Entries of your own. */
  metadata?: Record<string, string> | undefined
  /** Tools that the skill uses. Not enforced. */
  allowedTools?: readonly string[] | undefined
  /** Bindings that are injected at activation; a function creates them for each runtime. */
  bindings?: SkillBindings | undefined
  /** Files that the model may read, by path. */
  files?: Record<string, string | Uint8Array> | undefined
}

// `anything` marks an option that `checkSkillProperties` checks.
const skillChecks: check.OptionChecks<SkillOptions> = {
  name: check.anything,
  description: check.anything,
  instructions: check.anything,
  license: check.anything,
  compatibility: check.anything,
  metadata: check.anything,
  allowedTools: check.mustBeTextList,
  bindings: check.mustBeEither(
    "an object of bindings or a function that makes them",
    check.mustBeObject,
    check.mustBeFunction,
  ),
  files: check.mustBeObject,
}

/** Creates a skill in code. */
export function skill(options: SkillOptions): Skill {
  check.checkOptions("skill()", options, skillChecks)
  const { instructions, bindings, allowedTools = [] } = options
  const { name, description, license, compatibility, metadata } = options
  const { properties, findings } = checkSkillProperties(
    { name, description, license, compatibility, metadata },
    undefined,
  )
  const files = new Map(Object.entries(options.files ?? {}).map(([path, content]) => [path, toBytes(content)]))
  const problems = [
    ...findings.filter(({ severity }) => severity === "error").map(({ message }) => message),
    ...(typeof instructions === "string" ? [] : ["instructions must be text"]),
    ...[...files.keys()].flatMap((path) => (pathProblem(path) ? `the file "${path}" ${pathProblem(path)}` : [])),
  ]
  if (problems.length > 0) throw new ConfigError(`skill(): ${problems.join("; ")}.`)
  return {
    ...properties,
    instructions,
    allowedTools,
    trusted: true,
    bindings,
    files: async () => [...files].map(([path, { length }]) => ({ path, sizeBytes: length })).sort(byPath),
    async read(path) {
      const bytes = files.get(path)
      if (bytes) return bytes
      throw new Error(`"${path}" is not there`)
    },
  }
}

/** A problem with a skill. A skill with an error is not loaded. */
export interface SkillProblem extends Finding {
  path: string
}

export interface LoadedSkills {
  /** In the order of the sources and of their paths. If two have the same name, the first is loaded. */
  skills: Skill[]
  /** All problems that were found. */
  problems: SkillProblem[]
}

/** Finds and checks skills. Never throws because of their content: every problem is in the result. */
export async function loadSkills(sources: readonly SkillSource[]): Promise<LoadedSkills> {
  const { loadFromSources: load } = await import("./skills/load-skills.ts")
  return load(sources)
}

function toBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content
}

function byPath(a: SkillFile, b: SkillFile): number {
  return a.path < b.path ? -1 : 1
}
