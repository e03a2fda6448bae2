// The user's check of what a run left behind, and the verdict it gives.
import type { RunResult } from "../../core/agent.ts"
import { errorData } from "../../core/errors.ts"
import { type Judgement, toVerdict } from "../../core/verdict.ts"
import type { Runtime } from "../../runtime/runtime.ts"

/** Checks the runtime and the result of a run: the state, not the text. Called once, when the run is done, stopped or
 *  waiting; it does not change the run's status. */
export type Verify<R extends RunResult = RunResult, L extends Runtime = Runtime> = Verifier<R, L>["verify"]

// A method, so that a check for a run with certain outputs is assignable to the general type.
interface Verifier<R extends RunResult, L extends Runtime> {
  verify(runtime: L, result: R): Judgement | Promise<Judgement>
}

/** Sets the verdict of a result. If the check throws, the verdict is a failure with the reason. */
export async function applyVerdict(verify: Verify, runtime: Runtime, result: RunResult): Promise<void> {
  if (result.status === "failed" || result.status === "aborted") return
  try {
    result.verdict = toVerdict(await verify(runtime, result))
  } catch (error) {
    const { name, message } = errorData(error)
    result.verdict = { pass: false, score: 0, reason: `verify threw ${name}: ${message}` }
  }
}
