// The model that plays a conversation when no oracle does: a real one, or a person. A person may say how it was played.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { handModel, type Model, resolveModel } from "karst/models"
import type { Mode } from "../harness/suite.ts"
import { countTokens } from "../harness/tokens.ts"

export type PlayedMode = Exclude<Mode, { type: "oracle" }>

/** What a person has written about how it was played, in `about.md` in the folder of the requests. */
export async function playersNote(mode: PlayedMode): Promise<string | undefined> {
  if (mode.type !== "hand") return undefined
  const text = await readFile(join(mode.dir, "about.md"), "utf8").catch(() => undefined)
  return text?.trim()
}

/** A new model for each conversation: a person sees at its start the whole request, then what is new. */
export async function playedModel(mode: PlayedMode): Promise<Model> {
  return mode.type === "hand" ? handModel({ dir: mode.dir, countTokens }) : resolveModel(mode.model)
}
