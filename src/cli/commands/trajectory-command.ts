// `karst trajectory show`: the steps of a stored session, as lines, in full, as JSON, or as an HTML page.
import { resolve } from "node:path"
import { replacePrivateFile } from "../../core/private-files.ts"
import type { Input } from "../command.ts"
import { printJson, printTable } from "../print-table.ts"
import { printNotice } from "../print-text.ts"
import type { trajectoryOptions } from "../table/trajectories.ts"
import { trajectoryPage } from "../trajectory/html-page.ts"
import { loadTrajectory } from "../trajectory/load-trajectory.ts"
import { overviewRows, viewOf } from "../trajectory/overview.ts"
import { listSteps, openScreen, showSteps } from "../trajectory/print-steps.ts"
import { selectSteps } from "../trajectory/select-steps.ts"
import type { Step } from "../trajectory/steps.ts"

export async function showTrajectoryCommand({
  values,
  positionals: [wanted = ""],
}: Input<typeof trajectoryOptions>): Promise<number> {
  const view = viewOf(await loadTrajectory(wanted, values.store))
  const selected = values.steps === undefined ? undefined : selectSteps(view.steps, values.steps)
  if (values.html !== undefined) {
    await replacePrivateFile(values.html, trajectoryPage({ ...view, steps: selected ?? view.steps }))
    printNotice(`wrote ${resolve(values.html)}`)
  }
  if (values.json) printJson({ ...view.overview, list: (selected ?? view.steps).map(withoutEvents) })
  else if (values.html !== undefined) return 0
  else if (selected) showSteps(selected, openScreen())
  else {
    printTable(overviewRows(view.overview))
    process.stdout.write("\n")
    listSteps(view.steps, { tools: values.tools }, openScreen())
  }
  return 0
}

/** The step for JSON. Its parts and events repeat what the other fields say. */
function withoutEvents({ events, parts, children, ...step }: Step): object {
  return { ...step, children: children.map(withoutEvents) }
}
