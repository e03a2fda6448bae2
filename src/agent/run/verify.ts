import type { RunResult } from "../../core/agent.ts"
import { errorData } from "../../core/errors.ts"
import { type Judgement, toVerdict } from "../../core/verdict.ts"
import type { Runtime } from "../../runtime/runtime.ts"

/** Looks at what a run left behind, in its runtime and its result, and says whether that is right: programmatic checking
 *  of state, not of text. Called once, when the run is done, stopped or waiting; the run's status stays what it is. */
export type Verify<R extends RunResult = RunResult> = Verifier<R>["verify"]

// A method, so that one for the outputs of a certain run passes for one of any run: it is called with that run alone.
interface Verifier<R extends RunResult> {
  verify(runtime: Runtime, result: R): Judgement | Promise<Judgement>
}

/** Gives the result its verdict. A check that throws has not passed, and says why. */
export async function applyVerdict(verify: Verify, runtime: Runtime, result: RunResult): Promise<void> {
  if (result.status === "failed" || result.status === "aborted") return
  try {
    result.verdict = toVerdict(await verify(runtime, result))
  } catch (error) {
    const { name, message } = errorData(error)
    result.verdict = { pass: false, score: 0, reason: `verify threw ${name}: ${message}` }
  }
}
