import {
  anything,
  checkOptions,
  mustBeEither,
  mustBeFunction,
  mustBeObject,
  mustBeTextList,
  type OptionChecks,
} from "./core/checks/check-options.ts"
import { ConfigError } from "./core/errors.ts"
import type { Bindings } from "./runtime/bindings.ts"
import type { SkillFile } from "./skills/skill-files.ts"
import { checkSkillProperties, type Finding, pathProblem } from "./skills/skill-properties.ts"

export type { SkillFile } from "./skills/skill-files.ts"

/** Instructions for a kind of task, with what they need. The model sees the name and description from the start, the
 *  instructions when it activates the skill, the files when it asks for them. */
export interface Skill {
  readonly name: string
  readonly description: string
  readonly instructions: string
  readonly license?: string | undefined
  readonly compatibility?: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  /** What the author would allow; a note for people, as Karst asks at the call. */
  readonly allowedTools: readonly string[]
  /** Whether the model is told of it and may activate it. */
  readonly offered: boolean
  /** The folder it was read from, without links. Its `injection.ts`, `.js`, `.mjs` or `.py` is run at activation. */
  readonly directory?: string | undefined
  /** SHA-256 of each code file in `directory`, by absolute path, as it was when the skill was loaded: only these bytes are run on the host. */
  readonly code?: ReadonlyMap<string, string> | undefined
  /** Whether its injection module may run on the host even when cells run elsewhere. */
  readonly trusted: boolean
  /** What enters the runtime at activation; a function makes it for each runtime. */
  readonly bindings?: SkillBindings | undefined
  /** What it brings beside its instructions, sorted by path. */
  files(): Promise<SkillFile[]>
  /** The bytes of a file by its path in the skill. Throws for one that is not there, too large or not inside. */
  read(path: string): Promise<Uint8Array>
}

export type SkillBindings = Bindings | (() => Bindings | Promise<Bindings>)

/** Where skills come from: a skill made in code, or the path of a SKILL.md, of a skill's folder, or of a folder of them. */
export type SkillSource = string | URL | SkillPath | Skill

export interface SkillPath {
  path: string | URL
  /** Lets the injection modules found there run on the host and hand out live objects, whatever confines the cells.
   *  Default false. */
  trusted?: boolean | undefined
}

export interface SkillOptions {
  /** Lower case letters, digits and single hyphens, at most 64. */
  name: string
  /** What it does and when to use it, at most 1024 characters. */
  description: string
  /** What the model reads when it activates the skill. */
  instructions: string
  license?: string | undefined
  compatibility?: string | undefined
  metadata?: Record<string, string> | undefined
  allowedTools?: readonly string[] | undefined
  /** What enters the runtime at activation; a function makes it for each runtime. */
  bindings?: SkillBindings | undefined
  /** Files that the model may read, by path. */
  files?: Record<string, string | Uint8Array> | undefined
}

// `anything`: checked with the other properties of a skill.
const skillChecks: OptionChecks<SkillOptions> = {
  name: anything,
  description: anything,
  instructions: anything,
  license: anything,
  compatibility: anything,
  metadata: anything,
  allowedTools: mustBeTextList,
  bindings: mustBeEither("an object of bindings or a function that makes them", mustBeObject, mustBeFunction),
  files: mustBeObject,
}

/** A skill made in code. */
export function skill(options: SkillOptions): Skill {
  checkOptions("skill()", options, skillChecks)
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
    files: async () => [...files].map(([path, { length }]) => ({ path, bytes: length })).sort(byPath),
    async read(path) {
      const bytes = files.get(path)
      if (bytes) return bytes
      throw new Error(`"${path}" is not there`)
    },
  }
}

/** What is wrong with a skill, or worth knowing about it. One with an error is not loaded. */
export interface SkillProblem extends Finding {
  path: string
}

export interface LoadedSkills {
  /** In the order of the sources, and of their paths; of two with one name the first. */
  skills: Skill[]
  /** Everything that was found, all at once. */
  problems: SkillProblem[]
}

/** Finds and checks skills. Never throws for what they are: every problem is in the result. */
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
