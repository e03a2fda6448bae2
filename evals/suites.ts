// The suites of `npm run evals`, in the order of their chapters.
import { bfcl } from "./bfcl.ts"
import { data } from "./data.ts"
import { drift } from "./drift.ts"
import { handoff } from "./handoff.ts"
import type { Suite } from "./harness/suite.ts"
import { merge } from "./merge.ts"
import { original } from "./original.ts"
import { recall } from "./recall.ts"
import { retail } from "./retail.ts"

/** A new suite is a file that exports a `Suite`, and a line here. */
export const suites: readonly Suite[] = [retail, bfcl, data, handoff, drift, merge, recall, original]
