// Which run, session and metadata hooks see, also in child runs.
import type { Metadata } from "../core/event.ts"
import { toFrozenJson } from "../core/json.ts"
import { findInherited, type RunContext } from "../core/run-context.ts"
import type { HookContext } from "./hooks.ts"

/** The run in which a hook is called, without its signal. */
export type HookCaller = Omit<HookContext, "signal">

interface SessionFacts {
  session?: string | undefined
  metadata: Metadata
}

declare module "../core/run-context.ts" {
  interface Inherited {
    /** What hooks of child runs see. `replaces`: also instead of a session that the child run itself belongs to. */
    hookFacts?: SessionFacts & { replaces?: boolean }
  }
}

/** Returns the run as its hooks see it, and stores for its child runs what they inherit: a child run belongs to the
 *  session of the run that started it unless it has one, and adds its metadata to that run's. */
export function setHookCaller(run: RunContext, agent: string, { session, metadata }: SessionFacts): HookCaller {
  const outer = findInherited(run.parent, "hookFacts")
  const facts = {
    session: outer?.replaces ? outer.session : (session ?? outer?.session),
    metadata: frozenMetadata({ ...outer?.metadata, ...metadata }),
  }
  run.inherited.hookFacts = facts
  return { run: run.id, parent: run.parent?.id, agent, ...facts }
}

// A copy: the objects in it belong to the caller, and all runs of an agent share those of its definition.
function frozenMetadata(metadata: Metadata): Metadata {
  const members = Object.entries(metadata).filter(([, value]) => value !== undefined)
  return Object.freeze(Object.fromEntries(members.map(([name, value]) => [name, toFrozenJson(value, "metadata")])))
}

/** Makes hooks of child runs see this session instead of their own: a fallback runs its agents in hidden sessions. */
export function replaceHookSession(run: RunContext, session: string): void {
  const outer = findInherited(run.parent, "hookFacts")
  run.inherited.hookFacts = {
    session: outer?.replaces ? outer.session : session,
    metadata: outer?.metadata ?? {},
    replaces: true,
  }
}
