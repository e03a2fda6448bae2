// `karst config path | show`: the configuration files, and every value with its origin.
import { findProject, findUser } from "../../config/find-files.ts"
import type { Origin } from "../../config/merge-config.ts"
import type { Input } from "../command.ts"
import { printJson, printTable } from "../print-table.ts"
import { loadProjectConfig } from "../project-config.ts"
import type { configOptions } from "../table/configuration.ts"
import type { jsonOption } from "../table/shared-options.ts"

/** Reads no file, so that it also works while one has a mistake or is not trusted. */
export async function configPathCommand({ values }: Input<typeof jsonOption>): Promise<number> {
  const user = findUser(process.env)
  const places = { project: findProject(process.cwd(), user), user }
  const files = Object.entries(places).map(([source, { file, usualFile }]) => {
    return { source, path: file ?? usualFile, exists: file !== undefined }
  })
  if (values.json) printJson(files)
  else printTable(files.map(({ source, path, exists }) => [source, exists ? path : `${path} (does not exist)`]))
  return 0
}

export async function showConfigCommand({ values }: Input<typeof configOptions>): Promise<number> {
  const entries = (await loadProjectConfig(values.config)).entries()
  if (values.json) printJson(entries)
  else {
    const rows = entries.map(({ key, value, origin }) => [
      key,
      originText(origin),
      value === null ? "(not set)" : typeof value === "string" ? value : JSON.stringify(value),
    ])
    printTable([["key", "origin", "value"], ...rows])
  }
  return 0
}

export function originText({ source, file, line, variable }: Origin): string {
  if (variable !== undefined) return variable
  return file === undefined ? source : `${file}${line === undefined ? "" : `:${line}`}`
}
