// `npm run build`: the published JavaScript and its types, in dist/, with the Python files beside their modules.
import { chmodSync, cpSync, globSync, rmSync } from "node:fs"
import { join } from "node:path"
import { root, runTool } from "./tools.ts"

rmSync(join(root, "dist"), { recursive: true, force: true })
const status = runTool("typescript/bin/tsc", ["-p", "tsconfig.build.json"])
for (const file of globSync("src/**/*.py", { cwd: root })) {
  cpSync(join(root, file), join(root, file.replace("src", "dist")), { recursive: true })
}
if (status === 0) chmodSync(join(root, "dist/cli/bin.js"), 0o755)
process.exitCode = status
