// `npm run build` writes dist/, as published: code in few files (see gather.ts), types file by file without those that
// no public module reaches, and the Python files where their modules look for them. There is neither source nor source
// map: the code is the source without its types, and the size of an install has a budget.
import { chmodSync, cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { gather } from "./gather.ts"
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
const doors = publicModules()
await gather(dist, [...doors, ...programs()])
checkNodeFirst(dist, doors, Number(/\d+/.exec(published().engines.node)?.[0]))
chmodSync(join(dist, "cli/bin.js"), 0o755)
removeTypesExceptOf(doors)

/** What package.json lets others import or run, as paths in dist/ without their ending. */
function publicModules(): string[] {
  const { exports, bin } = published()
  const files = [
    ...Object.values(exports).map((door) => (typeof door === "object" ? door.default : "")),
    ...Object.values(bin),
  ]
  return files.flatMap((file) => /^\.\/dist\/(.*)\.js$/.exec(file)?.[1] ?? [])
}

function published(): Published {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
}

interface Published {
  engines: { node: string }
  exports: Record<string, string | { default: string }>
  bin: Record<string, string>
}

/** What processes and threads of our own run: files that a module finds beside itself. */
function programs(): string[] {
  return globSync("src/**/*.ts", { cwd: root }).flatMap((file) => {
    const found = readFileSync(join(root, file), "utf8").matchAll(/"([\w./-]+)\.js", import\.meta\.url/g)
    return [...found].map(([, program = ""]) => join(dirname(file), program).replace("src/", ""))
  })
}

function removeTypesExceptOf(doors: string[]): void {
  const reached = new Set<string>()
  const visit = (file: string): void => {
    if (reached.has(file)) return
    reached.add(file)
    const imports = readFileSync(join(dist, file), "utf8").matchAll(/(?:from |import\()"(\.[^"]+)\.ts"/g)
    for (const [, path = ""] of imports) visit(`${join(dirname(file), path)}.d.ts`)
  }
  for (const door of doors) visit(`${door}.d.ts`)
  for (const file of globSync("**/*.d.ts", { cwd: dist })) {
    if (!reached.has(file)) rmSync(join(dist, file))
    else writeFileSync(join(dist, file), indentedByTabs(readFileSync(join(dist, file), "utf8")))
  }
}

function indentedByTabs(types: string): string {
  return types.replaceAll(/^(?: {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4))
}
