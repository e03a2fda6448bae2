// `npm run example -- 03`: runs the example whose name starts so; without a name, lists them.
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { root } from "./tools.ts"

const wanted = process.argv[2]
const examples = readdirSync(join(root, "examples"), { encoding: "utf8", recursive: true }).filter((file) =>
  file.endsWith(".ts"),
)
const chosen = wanted ? examples.find((file) => file.startsWith(wanted)) : undefined
if (chosen) {
  // The example's own arguments begin where the name was.
  process.argv.splice(1, 2, join(root, "examples", chosen))
  await import(join(root, "examples", chosen))
} else {
  console.log(
    `npm run example -- <name>, where the name starts one of:\n${examples.map((file) => `  ${file}`).join("\n")}`,
  )
  process.exitCode = wanted ? 2 : 0
}
