// The functions by which cells activate skills and read their files.
import { ConfigError } from "../core/errors.ts"
import { type Bindings, fn } from "../runtime/bindings.ts"
import type { Runtime } from "../runtime/runtime.ts"

export const skillFunctions = {
  typescript: { activate: "activateSkill", read: "readSkillFile", wait: "await " },
  python: { activate: "activate_skill", read: "read_skill_file", wait: "" },
} as const

/** Binds the functions in a runtime once. They are the same for all agents, because the calling run answers them; so
 *  agents with different skills can share the runtime. */
export async function bindSkillFunctions(runtime: Runtime): Promise<void> {
  const binding = bindingsInProgress.get(runtime) ?? bindOnce(runtime)
  bindingsInProgress.set(runtime, binding)
  binding.catch(() => bindingsInProgress.delete(runtime))
  await binding
}

const bindingsInProgress = new WeakMap<Runtime, Promise<void>>()

async function bindOnce(runtime: Runtime): Promise<void> {
  const { activate, read } = skillFunctions[runtime.language]
  const names = (await runtime.names()).map(({ name }) => name)
  if (!names.includes(activate) && !names.includes(read)) return runtime.inject(createSkillBindings(activate, read))
  // A copied runtime already has them.
  const found = await Promise.all([activate, read].map((name) => runtime.retrieve(name).catch(() => undefined)))
  if (found[0] === activateOutsideRun && found[1] === readOutsideRun) return
  throw new ConfigError(
    `Skills need the names ${activate} and ${read}, which this runtime uses for something else: rename that.`,
  )
}

function createSkillBindings(activate: string, read: string): Bindings {
  return {
    [activate]: fn(activateOutsideRun, {
      description: "Activates a skill. Its instructions follow the output of the cell.",
      signature: "(name: string) => Promise<string>",
    }),
    [read]: fn(readOutsideRun, {
      description: "A file of a skill as text, or in base64 where it is not text.",
      signature: '(name: string, path: string, encoding?: "utf8" | "base64") => Promise<string>',
    }),
  }
}

// A run of an agent with skills intercepts these calls; these bodies run only elsewhere.
const activateOutsideRun = async (_name: string) => throwOutsideRun()
const readOutsideRun = async (_name: string, _path: string) => throwOutsideRun()

function throwOutsideRun(): never {
  throw new Error("There are no skills here: only the cells of an agent that was given skills can use them.")
}
