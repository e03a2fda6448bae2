// Bundles the built modules of dist into a few files.
import { globSync, rmSync } from "node:fs"
import { join, relative } from "node:path"
import { type GetManualChunk, type GetModuleInfo, type Plugin, rollup } from "rollup"
import { isBundled, packagesInside, writeNotice } from "./bundled.ts"
import { compactCode } from "./compact-code.ts"
import { oldNodePlugins } from "./old-node.ts"

/** Puts the built modules of a folder into few files, in place: Node takes longer to find and open a module than to run
 *  it. The entries, named by their paths without an ending, stay where they are and share what is behind them, so that
 *  a class is the same whichever door it came by. */
export async function gather(folder: string, entries: readonly string[]): Promise<void> {
  const bundle = await rollup({
    input: Object.fromEntries(entries.map((entry) => [entry, join(folder, `${entry}.js`)])),
    external: (id) => !id.startsWith(".") && !id.startsWith(folder) && !isBundled(id),
    plugins: [packagesInside(), keepPlaces(folder), ...oldNodePlugins(folder), compactCode()],
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

// Assigns modules to output files. `core`: modules that both the main module and the child process load. `karst`: the
// others that the main module loads at once. `cells`: the others that the child process loads. Each file imports only
// the ones before it, so there are no import cycles. The bundler divides the remaining modules by their importers.
function layers(folder: string): GetManualChunk {
  let main: Set<string> | undefined
  let cells: Set<string> | undefined
  return (module, { getModuleInfo }) => {
    main ??= loadedWith(join(folder, "index.js"), getModuleInfo)
    cells ??= loadedWith(join(folder, "runtime/process/child.js"), getModuleInfo)
    if (relative(folder, module).startsWith("core/")) return "core"
    if (main.has(module)) return cells.has(module) ? "core" : "karst"
    return cells.has(module) ? "cells" : undefined
  }
}

/** The modules that an entry module imports, directly or through others. */
function loadedWith(entry: string, getModuleInfo: GetModuleInfo): Set<string> {
  const found = new Set<string>()
  const visit = (module: string): void => {
    if (found.has(module)) return
    found.add(module)
    for (const imported of getModuleInfo(module)?.importedIds ?? []) visit(imported)
  }
  visit(entry)
  // The entry stays a file of its own, so that other modules can import what it imports without loading the entry.
  found.delete(entry)
  return found
}
