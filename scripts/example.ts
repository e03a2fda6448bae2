// `npm run example -- 03`: runs the example whose name starts so; without a name, lists them.
import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { root } from "./tools.ts"

const [wanted, ...args] = process.argv.slice(2)
const examples = readdirSync(join(root, "examples"), { encoding: "utf8", recursive: true })
  .filter((file) => file.endsWith(".ts"))
  .sort()
const chosen = wanted ? examples.find((file) => file.startsWith(wanted)) : undefined
if (chosen) {
  // In a process of its own, because some examples do their work only as the main module.
  const example = [...process.execArgv, join(root, "examples", chosen), ...args]
  process.exitCode = spawnSync(process.execPath, example, { stdio: "inherit" }).status ?? 1
} else {
  console.log(
    `npm run example -- <name>, where the name starts one of:\n${examples.map((file) => `  ${file}`).join("\n")}`,
  )
  process.exitCode = wanted ? 2 : 0
}
