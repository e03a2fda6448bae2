// `npm run check [-- --write]`: types, then lint and format; --write mends what can be mended.
import { runTool } from "./tools.ts"

const types = runTool("typescript/bin/tsc", ["-p", "."])
const style = runTool("@biomejs/biome/bin/biome", ["check", ...process.argv.slice(2)])
process.exitCode = types === 0 && style === 0 ? 0 : 1
