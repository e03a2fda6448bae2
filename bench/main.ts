// `npm run bench [-- <name>…] [--json]`: what Karst costs, beside its peers and its budgets. Timing is never asserted
// in tests: these figures are for people, on a machine that does nothing else.
import { parseArgs } from "node:util"
import { cell } from "./cell.ts"
import { declare } from "./declare.ts"
import { durable } from "./durable.ts"
import { growth } from "./growth.ts"
import { importTime } from "./import.ts"
import { install } from "./install.ts"
import { prompt } from "./prompt.ts"
import { recall } from "./recall.ts"
import { asJson, asTables, type Report } from "./report.ts"
import { runtime } from "./runtime.ts"
import { search } from "./search.ts"
import { skills } from "./skills.ts"
import { step } from "./step.ts"
import { store } from "./store.ts"
import { workspace } from "./workspace.ts"

const benches: Record<string, () => Promise<Report>> = {
  step,
  cell,
  growth,
  prompt,
  recall,
  skills,
  runtime,
  declare,
  workspace,
  store,
  durable,
  search,
  import: importTime,
  install,
}

const { values, positionals } = parseArgs({ options: { json: { type: "boolean" } }, allowPositionals: true })
const unknown = positionals.filter((name) => !(name in benches))
if (unknown.length > 0) {
  console.error(`Unknown bench: ${unknown.join(", ")}. There are: ${Object.keys(benches).join(", ")}.`)
  process.exit(2)
}

const reports: Record<string, Report> = {}
for (const [name, run] of Object.entries(benches)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  process.stderr.write(`${name} …\n`)
  reports[name] = await run()
}
console.log(values.json ? asJson(reports) : asTables(reports))
