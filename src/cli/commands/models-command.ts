// `karst models list | set | unset`: the models of the configuration and the tiers of coding CLIs.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { findModel, isModelId } from "../../config/agents/named-models.ts"
import { findUser } from "../../config/find-files.ts"
import type { LoadedConfig } from "../../config/load-config.ts"
import { loadConfig } from "../../config/load-config.ts"
import { trustConfig } from "../../config/trust.ts"
import { isRecord, withoutUndefined } from "../../core/object.ts"
import { replacePrivateFile } from "../../core/private-files.ts"
import type { Price } from "../../core/usage.ts"
import { baseUrlProblem } from "../../models/base-url.ts"
import { listedModels, modelFacts } from "../../models/prices.ts"
import { baseUrlOfId, checkModelId, modelDisplayId } from "../../models/resolve.ts"
import { knownProviders } from "../../providers/coding-agent.ts"
import { tierModel, tiers } from "../../providers/tiers.ts"
import type { Input } from "../command.ts"
import { printEmptyList } from "../empty-list.ts"
import { suggestion } from "../parse-command-line.ts"
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
  const named = namedRows(loaded)
  const rows = [...named, ...tierRows(loaded), ...(values.all ? listedRows() : [])]
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
    if (named.length === 0)
      printEmptyList({
        what: "models",
        where: loaded.files.map(({ path }) => path).join(" or "),
        cure: "Set the default one: karst models set default openai/gpt-5.2. Coding CLIs have models of their own:",
      })
    printTable([["name", "model", "input", "cached", "output", "context", "origin"], ...cells])
  }
  return 0
}

function namedRows(loaded: LoadedConfig): ModelRow[] {
  const { model, models = {} } = loaded.config
  const names = Object.keys(models).map((name) => ({ name, key: `models.${name}`, wanted: name }))
  const all = model === undefined ? names : [{ name: "default", key: "model", wanted: undefined }, ...names]
  return all.map(({ name, key, wanted }) => {
    const { id, price, contextWindow } = findModel(wanted, loaded, key)
    return { name, id, price, contextWindow, origin: originText(loaded.originOf(key)) }
  })
}

/** The models that coding CLIs use for `strongest` and `fast`. */
function tierRows(loaded: LoadedConfig): ModelRow[] {
  return knownProviders.flatMap((provider) =>
    tiers.map((tier): ModelRow => {
      const { id, source, variable } = tierModel(provider, tier, loaded.config.tiers, process.env)
      const facts = id === undefined ? undefined : modelFacts(provider.maker ? `${provider.maker}/${id}` : id)
      const setting = source === "setting" ? loaded.originOf(`tiers.${provider.name}.${tier}`) : undefined
      const origin = originText(setting ?? { source: "default", variable })
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
  const [name = "", second = "", third] = positionals
  return third === undefined ? await setModel(name, second, values) : await setTier(name, second, third, values)
}

type SetValues = Input<typeof setModelOptions>["values"]

async function setModel(name: string, id: string, values: SetValues): Promise<number> {
  if (name === "default" && !isModelId(id)) await requireUserModel(id)
  else checkModelId(id)
  const problem = baseUrlProblem(values["base-url"] ?? baseUrlOfId(id) ?? "https://host/v1")
  if (problem !== undefined)
    throw new UsageError(`${values["base-url"] === undefined ? "The base URL" : "--base-url"} ${problem}.`)
  const details = withoutUndefined({
    baseURL: values["base-url"],
    apiKey: values["api-key"],
    price: priceOf(id, values),
    contextWindow: values["context-window"],
  })
  const hasDetails = Object.keys(details).length > 0
  if (name === "default" && hasDetails)
    throw new UsageError(
      "The default model is a name or an id. Name a model with these options, then make it the default.",
    )
  const file = await changeUserConfig((config) => {
    if (name === "default") return { ...config, model: id }
    return { ...config, models: { ...recordOf(config.models), [name]: hasDetails ? { id, ...details } : id } }
  })
  printLine(`${name}: ${isModelId(id) ? modelDisplayId(id) : id}, in ${file}`)
  return 0
}

/** The default model may be a name, but only one of the user's configuration: others do not exist in every folder. */
async function requireUserModel(name: string): Promise<void> {
  findModel(name, await loadConfig({ cwd: findUser(process.env).folder }), "karst models set")
}

/** The price that the options give. If it lacks input or output, the rest is taken from the price list. */
function priceOf(id: string, { input, output, "cache-read": cacheRead }: SetValues): Price | undefined {
  const given = withoutUndefined({ input, output, cacheRead })
  if (Object.keys(given).length === 0) return undefined
  if (input !== undefined && output !== undefined) return { ...given, input, output }
  const known: Partial<Price> = modelFacts(modelDisplayId(id))?.price ?? {}
  const merged = { ...known, ...given }
  if (merged.input === undefined || merged.output === undefined)
    throw new UsageError("The price list does not have this model, so a price needs both --input and --output.")
  return { ...merged, input: merged.input, output: merged.output }
}

async function setTier(cli: string, tier: string, model: string, values: SetValues): Promise<number> {
  await checkTier(cli, tier)
  const [option] = Object.keys(withoutUndefined(values))
  if (option !== undefined) throw new UsageError(`--${option} cannot be used here: a tier is only the name of a model.`)
  const file = await changeUserConfig((config) => {
    const all = recordOf(config.tiers)
    return { ...config, tiers: { ...all, [cli]: { ...recordOf(all[cli]), [tier]: model } } }
  })
  printLine(`${cli} ${tier}: ${model}, in ${file}`)
  return 0
}

async function checkTier(cli: string, tier: string): Promise<void> {
  await requireName(
    "coding CLI",
    cli,
    knownProviders.map((each) => each.name),
  )
  await requireName("tier", tier, tiers)
}

async function requireName(what: string, name: string, names: readonly string[]): Promise<void> {
  if (names.includes(name)) return
  const hint = await suggestion(name, names)
  throw new UsageError(`There is no ${what} "${name}".${hint} There are: ${names.join(", ")}.`)
}

export async function unsetModelCommand({ positionals: [name = "", tier] }: Input): Promise<number> {
  if (tier !== undefined) await checkTier(name, tier)
  const what = tier === undefined ? name : `${name} ${tier}`
  const file = await changeUserConfig((config) => {
    const path = tier !== undefined ? ["tiers", name, tier] : name === "default" ? ["model"] : ["models", name]
    return removeAt(config, path) ?? throwNotSet(what)
  })
  printLine(`${what} was removed from ${file}`)
  return 0
}

function throwNotSet(what: string): never {
  throw new UsageError(`The user's configuration has no model "${what}". See: karst models list`)
}

/** Returns the object without the value at a path, and without the objects that become empty; undefined if there is no
 *  such value. */
function removeAt(value: JsonObject, [key = "", ...rest]: readonly string[]): JsonObject | undefined {
  if (!Object.hasOwn(value, key)) return undefined
  const { [key]: found, ...others } = value
  if (rest.length === 0) return others
  const inner = removeAt(recordOf(found), rest)
  return inner && (Object.keys(inner).length === 0 ? others : { ...others, [key]: inner })
}

type JsonObject = Record<string, unknown>

function recordOf(value: unknown): JsonObject {
  return isRecord(value) ? value : {}
}

/** Changes the user's JSON file, and trusts it again: the user asked for the change. Returns its path. */
async function changeUserConfig(change: (config: JsonObject) => JsonObject): Promise<string> {
  const { folder, file = join(folder, "config.json") } = findUser(process.env)
  if (!file.endsWith(".json"))
    throw new UsageError(`The user's configuration ${file} is code. Change \`model\`, \`models\` and \`tiers\` there.`)
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
