import { globSync, rmSync } from "node:fs"
import { join, relative } from "node:path"
import { type GetManualChunk, type GetModuleInfo, type Plugin, rollup } from "rollup"
import { isBundled, packagesInside, writeNotice } from "./bundled.ts"
import { narrowIndentation } from "./indentation.ts"
import { oldNodePlugins } from "./old-node.ts"

/** Puts the built modules of a folder into few files, in place: Node takes longer to find and open a module than to run
 *  it. The entries, named by their paths without an ending, stay where they are and share what is behind them, so that
 *  a class is the same whichever door it came by. */
export async function gather(folder: string, entries: readonly string[]): Promise<void> {
  const bundle = await rollup({
    input: Object.fromEntries(entries.map((entry) => [entry, join(folder, `${entry}.js`)])),
    external: (id) => !id.startsWith(".") && !id.startsWith(folder) && !isBundled(id),
    plugins: [packagesInside(), keepPlaces(folder), ...oldNodePlugins(folder), narrowIndentation()],
    onLog(level, { code, message }) {
      // TypeScript's helper for `import(…)` of what it cannot know looks for one of itself in `this`.
      if (level === "warn" && code !== "THIS_IS_UNDEFINED")
        throw new Error(`The modules cannot be put together: ${message}`)
    },
  })
  for (const file of globSync("**/*.js", { cwd: folder })) rmSync(join(folder, file))
  const { output } = await bundle.write({
    dir: folder,
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
    hoistTransitiveImports: false,
    manualChunks: layers(folder),
  })
  writeNotice(folder, output)
}

// `import.meta.url` is still where the module was, because files are found beside it. A program that a bundler has put
// together with its own has no such files: there the address is one whose failure to load names the cure. It must not
// fail before, because most of Karst needs none of these files.
function keepPlaces(folder: string): Plugin {
  return {
    name: "keep-places",
    resolveImportMeta(property, { chunkId, moduleId }) {
      if (property !== "url") return null
      const up = "../".repeat(chunkId.split("/").length - 1) || "./"
      const module = relative(folder, moduleId)
      const isOurs = `import.meta.url?.endsWith(${JSON.stringify(`/${chunkId}`)})`
      const place = `new URL(${JSON.stringify(`${up}${module}`)}, import.meta.url)`
      const nowhere = `new URL(${JSON.stringify(`karst-was-bundled/mark-karst-as-external/${module}`)}, import.meta.url ?? \`file:///\${process.cwd()}/\`)`
      return `(${isOurs} ? ${place} : ${nowhere}).href`
    },
  }
}

// What the front door and a child process share, what else the front door loads at once, and what else cells need are a
// file each. A layer needs nothing but those before it, so that files never wait for each other in a circle. The rest
// is divided by who needs it.
function layers(folder: string): GetManualChunk {
  let front: Set<string> | undefined
  let cells: Set<string> | undefined
  return (module, { getModuleInfo }) => {
    front ??= loadedWith(join(folder, "index.js"), getModuleInfo)
    cells ??= loadedWith(join(folder, "runtime/process/child.js"), getModuleInfo)
    if (relative(folder, module).startsWith("core/")) return "core"
    if (front.has(module)) return cells.has(module) ? "core" : "karst"
    return cells.has(module) ? "cells" : undefined
  }
}

function loadedWith(door: string, getModuleInfo: GetModuleInfo): Set<string> {
  const found = new Set<string>()
  const visit = (module: string): void => {
    if (found.has(module)) return
    found.add(module)
    for (const imported of getModuleInfo(module)?.importedIds ?? []) visit(imported)
  }
  visit(door)
  // A door is a file of its own: whoever needs something behind it does not come in by it.
  found.delete(door)
  return found
}
