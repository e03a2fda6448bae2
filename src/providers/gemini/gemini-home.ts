import { lstat, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { ConfigError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { makePrivateFolder, privateFileMode } from "../../core/private-files.ts"
import type { JsonObject } from "../read-json.ts"

/** A home for one turn of Gemini CLI: the user's own, seen through links, but for the settings. It takes settings from files alone, and
 *  the user's are not ours to change. */
export interface GeminiHome {
  readonly env: { readonly GEMINI_CLI_HOME: string }
  /** Brings home what it has made new, and leaves nothing. */
  close(): Promise<void>
}

/** `within`: a private folder, which holds it. */
export async function createGeminiHome(
  env: Readonly<Record<string, string>>,
  settings: JsonObject,
  within: string,
): Promise<GeminiHome> {
  const own = userGeminiFolder(env)
  const folder = join(within, "home")
  const seen = join(folder, ".gemini")
  const close = async () => {
    await moveNewFilesHome(seen, own)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await makePrivateFolder(seen)
    // Where it keeps conversations: made first, so that those of this turn are there.
    await makePrivateFolder(join(own, "tmp"))
    for (const name of await readdir(own)) {
      if (name !== settingsFile) await symlink(join(own, name), join(seen, name))
    }
    const merged = merge(await readSettings(join(own, settingsFile)), settings)
    await writeFile(join(seen, settingsFile), JSON.stringify(merged), { mode: privateFileMode })
  } catch (error) {
    await close()
    throw error
  }
  return { env: { GEMINI_CLI_HOME: folder }, close }
}

/** Gives the record of a conversation another name. Over ACP a conversation that is loaded begins a record of its own, named by the
 *  minute; within the minute of the first that would be the same file, and what was said would be lost. */
export async function renameSessionRecord(env: Readonly<Record<string, string>>, key: string): Promise<void> {
  const projects = join(userGeminiFolder(env), "tmp")
  const ending = `-${key.slice(0, 8)}.jsonl`
  for (const project of await readdir(projects).catch(() => [])) {
    const chats = join(projects, project, "chats")
    for (const file of await readdir(chats).catch(() => [])) {
      if (!/^session-\d/.test(file) || !file.endsWith(ending)) continue
      await rename(join(chats, file), join(chats, file.replace("session-", `session-karst-${Date.now()}-`)))
    }
  }
}

function userGeminiFolder(env: Readonly<Record<string, string>>): string {
  return join(env.GEMINI_CLI_HOME ?? env.HOME ?? homedir(), ".gemini")
}

const settingsFile = "settings.json"

// What is no link was made, or replaced, by this turn.
async function moveNewFilesHome(seen: string, own: string): Promise<void> {
  for (const name of await readdir(seen).catch(() => [])) {
    const path = join(seen, name)
    if (name === settingsFile || (await lstat(path)).isSymbolicLink()) continue
    // Another turn may have brought one home meanwhile: of a folder, the first stays.
    await rename(path, join(own, name)).catch(() => undefined)
  }
}

async function readSettings(path: string): Promise<JsonObject> {
  const text = await readFile(path, "utf8").catch((error) => {
    if (error.code === "ENOENT") return "{}"
    throw error
  })
  try {
    return JSON.parse(withoutComments(text))
  } catch (error) {
    throw new ConfigError(`Gemini CLI: its settings in ${path} are no JSON. Mend them first.`, { cause: error })
  }
}

// It allows them; a string may hold what looks like one.
function withoutComments(text: string): string {
  return text.replace(/("(?:[^"\\]|\\[\s\S])*"?)|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (_, string) => string ?? "")
}

function merge(base: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = { ...base }
  for (const [key, value] of Object.entries(over)) merged[key] = mergeValue(base[key], value)
  return merged
}

function mergeValue(base: Json | undefined, over: Json): Json {
  return isObject(base) && isObject(over) ? merge(base, over) : over
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
