// `karst config path | show | trust`: the configuration files, every value with its origin, and which files may run.
import { statSync } from "node:fs"
import { resolve } from "node:path"
import { configDiagnostics } from "../../config/agents/config-diagnostics.ts"
import { findProject, findUser } from "../../config/find-files.ts"
import { fileOf } from "../../config/load-config.ts"
import type { Origin } from "../../config/merge-config.ts"
import { moduleFiles } from "../../config/module-files.ts"
import { placeText } from "../../config/read-config-file.ts"
import { trustConfig } from "../../config/trust.ts"
import type { Input } from "../command.ts"
import { printJson, printTable } from "../print-table.ts"
import { printLine } from "../print-text.ts"
import { loadProjectConfig } from "../project-config.ts"
import { builtInName } from "../run/prepare-agent.ts"
import { printDiagnostics } from "../run/print-diagnostics.ts"
import type { configOptions } from "../table/configuration.ts"
import type { jsonOption } from "../table/shared-options.ts"
import { UsageError } from "../usage-error.ts"

/** Reads no file, so that it also works while one has a mistake or is not trusted. */
export async function configPathCommand({ values }: Input<typeof jsonOption>): Promise<number> {
  const user = findUser(process.env)
  const files = [fileOf("project", findProject(process.cwd(), user)), fileOf("user", user)]
  if (values.json) printJson(files)
  else printTable(files.map(({ source, path, exists }) => [source, exists ? path : `${path} (does not exist)`]))
  return 0
}

export async function showConfigCommand({ values }: Input<typeof configOptions>): Promise<number> {
  const loaded = await loadProjectConfig(values.config)
  const entries = loaded.entries()
  if (values.json) printJson(entries)
  else {
    const rows = entries.map(({ key, value, origin }) => [
      key,
      originText(origin),
      value === null ? "(not set)" : typeof value === "string" ? value : JSON.stringify(value),
    ])
    printTable([["key", "origin", "value"], ...rows])
  }
  const problems = await configDiagnostics(loaded, builtInName)
  printDiagnostics(problems)
  return problems.some(({ severity }) => severity === "error") ? 1 : 0
}

export async function trustConfigCommand({ positionals: [given] }: Input): Promise<number> {
  const user = findUser(process.env)
  const found = [findProject(process.cwd(), user).file, user.file].filter((file) => file !== undefined)
  const files = given === undefined ? found : [resolve(given)]
  if (files.length === 0) throw new UsageError("There is no configuration file. See: karst config path")
  for (const file of files) {
    const found = statSync(file, { throwIfNoEntry: false })
    if (!found) throw new UsageError(`There is no file ${given}.`)
    if (!found.isFile())
      throw new UsageError(`${file} is not a file. Name a configuration file. See: karst config path`)
    await trustConfig(file)
    for (const each of moduleFiles(file)) printLine(`trusted  ${each}`)
  }
  return 0
}

export function originText({ source, file, line, variable }: Origin): string {
  if (variable !== undefined) return variable
  return file === undefined ? source : placeText(file, line)
}
