// `npm run build` writes dist/, as published: code in few files (see gather.ts), types in one file that the public
// modules export from (see gather-types.ts), and the Python files where their modules look for them. There is neither
// source nor source map: the code is the source without its types, and the size of an install has a budget.
import { chmodSync, cpSync, globSync, readFileSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { gather } from "./gather.ts"
import { gatherTypes } from "./gather-types.ts"
import { checkNodeFirst } from "./old-node.ts"
import { root, runTool } from "./tools.ts"

const dist = join(root, "dist")
rmSync(dist, { recursive: true, force: true })
const settings = ["-p", "tsconfig.build.json"]
const status =
  runTool("typescript/bin/tsc", [...settings, "--emitDeclarationOnly"]) ||
  runTool("typescript/bin/tsc", [...settings, "--declaration", "false", "--removeComments"])
if (status !== 0) process.exit(status)

for (const file of globSync("src/**/*.py", { cwd: root }))
  cpSync(join(root, file), join(root, file.replace("src", "dist")))
const { engines, exports, bin, peerDependenciesMeta } = published()
const modules = pathsInDist(Object.values(exports).map((door) => (typeof door === "object" ? door.default : "")))
const commands = pathsInDist(Object.values(bin))
await gather(dist, [...modules, ...commands, ...programs()])
checkNodeFirst(dist, [...modules, ...commands], Number(/\d+/.exec(engines.node)?.[0]))
chmodSync(join(dist, "cli/bin.js"), 0o755)
gatherTypes(dist, modules, new Set(Object.keys(peerDependenciesMeta)))

/** Files in dist/ as package.json names them, as paths in it without their ending. */
function pathsInDist(files: string[]): string[] {
  return files.flatMap((file) => /^\.\/dist\/(.*)\.js$/.exec(file)?.[1] ?? [])
}

function published(): Published {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
}

interface Published {
  engines: { node: string }
  exports: Record<string, string | { default: string }>
  bin: Record<string, string>
  peerDependenciesMeta: Record<string, object>
}

/** What processes and threads of our own run: files that a module finds beside itself. */
function programs(): string[] {
  return globSync("src/**/*.ts", { cwd: root }).flatMap((file) => {
    const found = readFileSync(join(root, file), "utf8").matchAll(/"([\w./-]+)\.js", import\.meta\.url/g)
    return [...found].map(([, program = ""]) => join(dirname(file), program).replace("src/", ""))
  })
}
