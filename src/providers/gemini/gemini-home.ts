// A temporary home folder for one turn of Gemini CLI: links to the user's files, with our own settings. Gemini CLI
// reads settings only from files, and the user's settings must not be changed.
import { lstat, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { ConfigError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { isRecord } from "../../core/object.ts"
import { makePrivateFolder, privateFileMode } from "../../core/private-files.ts"
import type { JsonObject } from "../read-json.ts"

/** Creates the home inside `within`, a private folder. */
export async function createGeminiHome(env: Readonly<Record<string, string>>, settings: JsonObject, within: string) {
  const userFolder = userGeminiFolder(env)
  const folder = join(within, "home")
  const linked = join(folder, ".gemini")
  /** Moves new files into the user's home and removes the folder. */
  const close = async () => {
    await moveNewFilesHome(linked, userFolder)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await makePrivateFolder(linked)
    // The folder of conversations must exist before it is linked, so that new conversations are stored in the user's
    // home.
    await makePrivateFolder(join(userFolder, "tmp"))
    for (const name of await readdir(userFolder)) {
      if (name !== settingsFile) await symlink(join(userFolder, name), join(linked, name))
    }
    const merged = merge(await readSettings(join(userFolder, settingsFile)), settings)
    await writeFile(join(linked, settingsFile), JSON.stringify(merged), { mode: privateFileMode })
  } catch (error) {
    await close()
    throw error
  }
  return { env: { GEMINI_CLI_HOME: folder }, close }
}

/** Renames the stored conversation. Over ACP a loaded conversation starts a new file named by the minute; in the same
 *  minute that would overwrite the old one. */
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

// Files that are no links were created or replaced by this turn.
async function moveNewFilesHome(linked: string, userFolder: string): Promise<void> {
  for (const name of await readdir(linked).catch(() => [])) {
    const path = join(linked, name)
    if (name === settingsFile || (await lstat(path)).isSymbolicLink()) continue
    // Another turn may have moved the same name. A folder that exists is not replaced.
    await rename(path, join(userFolder, name)).catch(() => undefined)
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
    throw new ConfigError(`Gemini CLI: its settings in ${path} are not JSON. Fix them first.`, { cause: error })
  }
}

// Gemini CLI allows comments in settings. Strings may contain comment characters.
function withoutComments(text: string): string {
  return text.replace(/("(?:[^"\\]|\\[\s\S])*"?)|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (_, string) => string ?? "")
}

function merge(base: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = { ...base }
  for (const [key, value] of Object.entries(over)) merged[key] = mergeValue(base[key], value)
  return merged
}

function mergeValue(base: Json | undefined, over: Json): Json {
  return isRecord(base) && isRecord(over) ? merge(base, over) : over
}
