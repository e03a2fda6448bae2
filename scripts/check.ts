// `npm run check [-- --write]`: types, lint and format, and the public surface against etc/api.md. With --write it
// fixes lint and format and writes the surface.
import { join } from "node:path"
import { root, runTool } from "./tools.ts"

const types = runTool("typescript/bin/tsc", ["-p", "."])
const style = runTool("@biomejs/biome/bin/biome", ["check", ...process.argv.slice(2)])
const surface = runTool(join(root, "scripts/api.ts"), process.argv.includes("--write") ? [] : ["--check"])
process.exitCode = types === 0 && style === 0 && surface === 0 ? 0 : 1
