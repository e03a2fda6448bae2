// The model that plays a conversation when no oracle does: a real one, or a person.
import { handModel, type Model, resolveModel } from "karst/models"
import type { Mode } from "../harness/suite.ts"
import { countTokens } from "../harness/tokens.ts"

export type PlayedMode = Exclude<Mode, { type: "oracle" }>

/** A new model for each conversation: a person sees at its start the whole request, then what is new. */
export async function playedModel(mode: PlayedMode): Promise<Model> {
  return mode.type === "hand" ? handModel({ dir: mode.dir, countTokens }) : resolveModel(mode.model)
}
