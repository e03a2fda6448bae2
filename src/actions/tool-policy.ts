import { findInherited, type RunContext } from "../core/run-context.ts"
import type { Tool } from "../tools/tool.ts"

/** Which of its tools an agent may use. What is not allowed is neither offered to the model nor made when it asks for it all
 *  the same, or a cell does. Runs that a run starts may use no tool that it may not. */
export interface ToolPolicy {
  /** Only these, by name, and those that an agent could not do without: `finish` and `read_artifact`. Default: all. */
  allow?: readonly string[] | undefined
  /** Not these. */
  deny?: readonly string[] | undefined
  /** Only those for which this gives true; the two are not asked about. */
  only?: ((tool: Tool) => boolean) | undefined
}

export type ToolFilter = (tool: Tool) => boolean

declare module "../core/run-context.ts" {
  interface Inherited {
    toolFilter?: ToolFilter
  }
}

// Without them it could not end, or would have lost what was too long to show.
const alwaysAllowed = new Set(["finish", "read_artifact"])

/** A run's own policy, narrowed by that of the run that started it. */
export function setToolFilter(run: RunContext, policy: ToolPolicy | undefined): ToolFilter {
  const outer = findInherited(run.parent, "toolFilter")
  const own = createToolFilter(policy)
  const filter: ToolFilter = outer ? (tool) => outer(tool) && own(tool) : own
  run.inherited.toolFilter = filter
  return filter
}

function createToolFilter({ allow, deny, only }: ToolPolicy = {}): ToolFilter {
  const allowed = allow && new Set(allow)
  const denied = new Set(deny)
  return (tool) => {
    if (denied.has(tool.name)) return false
    if (alwaysAllowed.has(tool.name)) return true
    return (allowed?.has(tool.name) ?? true) && (only?.(tool) ?? true)
  }
}
