// `karst models list | set | unset`: the models of the configuration and of coding CLIs, and the user's named models.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { findModel } from "../../config/agents/named-models.ts"
import { findUser } from "../../config/find-files.ts"
import type { LoadedConfig } from "../../config/load-config.ts"
import { loadConfig } from "../../config/load-config.ts"
import { trustConfig } from "../../config/trust.ts"
import { isRecord, withoutUndefined } from "../../core/object.ts"
import { replacePrivateFile } from "../../core/private-files.ts"
import type { Price } from "../../core/usage.ts"
import { listedModels, modelFacts } from "../../models/prices.ts"
import { checkModelId, modelDisplayId } from "../../models/resolve.ts"
import { knownProviders } from "../../providers/coding-agent.ts"
import type { Input } from "../command.ts"
import { printJson, printTable } from "../print-table.ts"
import { printLine } from "../print-text.ts"
import { loadProjectConfig } from "../project-config.ts"
import type { listModelsOptions, setModelOptions } from "../table/configuration.ts"
import { UsageError } from "../usage-error.ts"
import { originText } from "./config-command.ts"

interface ModelRow {
  name: string
  id: string
  price?: Price | undefined
  contextWindow?: number | undefined
  origin: string
}

export async function listModelsCommand({ values }: Input<typeof listModelsOptions>): Promise<number> {
  const loaded = await loadProjectConfig(values.config)
  const rows = [...namedRows(loaded), ...tierRows(), ...(values.all ? listedRows() : [])]
  if (values.json) printJson(rows)
  else {
    const cells = rows.map(({ name, id, price, contextWindow, origin }) => [
      name,
      id,
      String(price?.input ?? ""),
      String(price?.cacheRead ?? ""),
      String(price?.output ?? ""),
      contextWindow === undefined ? "" : contextWindow.toLocaleString("en"),
      origin,
    ])
    printTable([["name", "model", "input", "cached", "output", "context", "origin"], ...cells])
  }
  return 0
}

function namedRows(loaded: LoadedConfig): ModelRow[] {
  const { model, models = {} } = loaded.config
  const names = Object.keys(models).map((name) => ({ name, key: `models.${name}`, wanted: name }))
  const all = model === undefined ? names : [{ name: "default", key: "model", wanted: model }, ...names]
  return all.map(({ name, key, wanted }) => {
    const { id, price, contextWindow } = findModel(wanted, loaded, key)
    return { name, id, price, contextWindow, origin: originText(loaded.originOf(key)) }
  })
}

/** The models that coding CLIs use for `strongest` and `fast`. */
function tierRows(): ModelRow[] {
  return knownProviders.flatMap((provider) =>
    (["strongest", "fast"] as const).map((tier): ModelRow => {
      const id = provider.model(tier, process.env)
      const isStandard = provider.model(tier, {}) === id
      const facts = id === undefined ? undefined : modelFacts(provider.maker ? `${provider.maker}/${id}` : id)
      const origin = isStandard ? "default" : "environment"
      return { name: `${provider.name} ${tier}`, id: id ?? "(the CLI's own)", ...facts, origin }
    }),
  )
}

function listedRows(): ModelRow[] {
  return listedModels().map(({ id, price, contextWindow }) => ({
    name: "",
    id,
    price,
    contextWindow,
    origin: "price list",
  }))
}

export async function setModelCommand({ values, positionals }: Input<typeof setModelOptions>): Promise<number> {
  const [name = "", id = ""] = positionals
  checkModelId(id)
  const { input, output, "cache-read": cacheRead } = values
  if ((input === undefined) !== (output === undefined) || (cacheRead !== undefined && input === undefined))
    throw new UsageError("A price needs both --input and --output.")
  const price = input === undefined || output === undefined ? undefined : withoutUndefined({ input, output, cacheRead })
  const details = withoutUndefined({
    baseURL: values["base-url"],
    apiKey: values["api-key"],
    price,
    contextWindow: values["context-window"],
  })
  const hasDetails = Object.keys(details).length > 0
  if (name === "default" && hasDetails)
    throw new UsageError(
      "The default model is a name or an id. Name a model with these options, then make it the default.",
    )
  const file = await changeUserConfig((config) => {
    if (name === "default") return { ...config, model: id }
    return { ...config, models: { ...modelsOf(config), [name]: hasDetails ? { id, ...details } : id } }
  })
  printLine(`${name}: ${modelDisplayId(id)}, in ${file}`)
  return 0
}

export async function unsetModelCommand({ positionals: [name = ""] }: Input): Promise<number> {
  const file = await changeUserConfig((config) => {
    const { model, ...rest } = config
    const { [name]: removed, ...models } = modelsOf(config)
    if ((name === "default" ? model : removed) === undefined)
      throw new UsageError(`The user's configuration has no model "${name}". See: karst models list`)
    return name === "default" ? rest : { ...config, models }
  })
  printLine(`${name} was removed from ${file}`)
  return 0
}

type JsonObject = Record<string, unknown>

function modelsOf({ models }: JsonObject): JsonObject {
  return isRecord(models) ? models : {}
}

/** Changes the user's JSON file, and trusts it again: the user asked for the change. Returns its path. */
async function changeUserConfig(change: (config: JsonObject) => JsonObject): Promise<string> {
  const { folder, file = join(folder, "config.json") } = findUser(process.env)
  if (!file.endsWith(".json"))
    throw new UsageError(`The user's configuration ${file} is code. Change \`model\` and \`models\` there.`)
  // Loaded first: a file with mistakes, or one that the user has not trusted, is not changed.
  await loadConfig({ cwd: folder })
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "{}"
    throw error
  })
  const config: unknown = JSON.parse(text)
  await replacePrivateFile(file, `${JSON.stringify(change(isRecord(config) ? config : {}), undefined, 2)}\n`)
  await trustConfig(file)
  return file
}
