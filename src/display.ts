// karst/display: shows a run in the terminal.
import type { Run, RunResult } from "./core/agent.ts"
import * as check from "./core/checks/check-options.ts"
import { allowReadersToApprove } from "./core/run-approvals.ts"
import { askApproval } from "./display/ask-approval.ts"
import { createFullView } from "./display/full-view.ts"
import { wantsColor } from "./display/paint.ts"
import { createResultView } from "./display/result-view.ts"
import { createScreen } from "./display/screen.ts"
import { createShortView } from "./display/short-view.ts"
import { createStatusLine } from "./display/status-line.ts"

export interface DisplayOptions {
  /** `full`: everything as it happens; `short`: one line per cell or tool call, and the answer; `result`: only the
   *  answer; `off`: nothing. Default `full`. */
  mode?: DisplayMode | undefined
  /** Default: standard output. */
  stream?: NodeJS.WritableStream | undefined
  /** Where approvals are answered, if it is a terminal. Default: standard input. */
  input?: (NodeJS.ReadableStream & { isTTY?: boolean | undefined }) | undefined
  /** Default: FORCE_COLOR, NO_COLOR, otherwise true for a terminal. Without colour, all output is plain text. */
  color?: boolean | undefined
}

export type DisplayMode = "full" | "short" | "result" | "off"

const displayChecks: check.OptionChecks<DisplayOptions> = {
  mode: check.mustBeOneOf("full", "short", "result", "off"),
  stream: check.mustBeObject,
  input: check.mustBeObject,
  color: check.mustBeBoolean,
}

/** Shows a run until it ends and returns its result, whatever the status: a failed run is shown, not thrown. Removes
 *  terminal control sequences from everything the model and its code wrote. */
export async function display<R extends RunResult>(run: Run<R>, options: DisplayOptions = {}): Promise<R> {
  check.checkOptions("display()", options, displayChecks)
  const { mode = "full", stream = process.stdout, input = process.stdin } = options
  // Without a display no person can be asked, so the run denies calls that need approval.
  if (mode === "off") return run.settled
  allowReadersToApprove(run)
  const screen = createScreen(stream, { color: options.color ?? wantsColor(stream) })
  // With `answer=$(…)`, standard output must contain only the answer.
  const messageStream = mode === "result" && stream === process.stdout ? process.stderr : stream
  const messageScreen =
    messageStream === stream ? screen : createScreen(messageStream, { color: wantsColor(messageStream) })
  const show = { full: createFullView, short: createShortView, result: createResultView }[mode](
    screen,
    run.id,
    messageScreen,
  )
  const progress = createStatusLine(screen, run.id)
  try {
    for await (const event of run) {
      show(event)
      progress(event)
      if (event.type !== "approval-requested") continue
      screen.setStatus(undefined)
      await askApproval(event, { run, screen: messageScreen, input, output: messageStream })
    }
  } finally {
    screen.close()
  }
  return run.settled
}
