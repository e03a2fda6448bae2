// Reads names that the type of a runtime does not have, such as those that cells make.
import type { LiveObjects } from "../src/core/agent.ts"

export const retrieveAny = (runtime: LiveObjects, name: string): Promise<unknown> => runtime.retrieve(name)
