// Which tools a run and its child runs may use.
import { findInherited, type RunContext } from "../core/run-context.ts"
import type { Tool } from "../tools/tool.ts"

/** Which tools an agent may use. A tool that is not allowed is not offered to the model, and refused if the model or a
 *  cell calls it. Child runs may use only tools that their parent may use. */
export interface ToolPolicy {
  /** Only these tools, by name, and `finish` and `read_artifact`, which an agent needs. Default: all. */
  allow?: readonly string[] | undefined
  /** Names of tools that are left out. */
  deny?: readonly string[] | undefined
  /** Only tools for which this returns true; not called for `finish` and `read_artifact`. */
  only?: ((tool: Tool) => boolean) | undefined
}

export type ToolFilter = (tool: Tool) => boolean

declare module "../core/run-context.ts" {
  interface Inherited {
    toolFilter?: ToolFilter
  }
}

// An agent needs these to end its run and to read results that were too long to show.
const alwaysAllowed = new Set(["finish", "read_artifact"])

/** Combines a run's own policy with the filter it inherits, and stores the result for its child runs. */
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
