// The models of the tiers "strongest" and "fast" of coding CLIs: from the environment, the settings or the CLI's own.
import type { Provider, Tier } from "./provider.ts"

export const tiers: readonly Tier[] = ["strongest", "fast"]

/** The models of one CLI, by the CLI's names for them. */
export type TierModels = Readonly<Partial<Record<Tier, string | undefined>>>

/** The models of tiers by the name of the CLI. */
export type TierSettings = Readonly<Record<string, TierModels | undefined>>

export interface TierModel {
  /** Undefined: the CLI's default model. */
  id: string | undefined
  /** Where it comes from. */
  source: "environment" | "setting" | "default"
  /** The environment variable that sets it. */
  variable?: string | undefined
}

/** Finds the model of a tier: the CLI's own environment variable has precedence over the settings, and these over the
 *  default. An empty variable counts as absent. */
export function tierModel(
  { name, tiers: own }: Pick<Provider, "name" | "tiers">,
  tier: Tier,
  settings: TierSettings = {},
  env: Readonly<Record<string, string | undefined>>,
): TierModel {
  const { model, variable } = own[tier]
  const fromEnvironment = variable === undefined ? undefined : env[variable]
  if (fromEnvironment) return { id: fromEnvironment, source: "environment", variable }
  const setting = Object.hasOwn(settings, name) ? settings[name]?.[tier] : undefined
  if (setting !== undefined) return { id: setting, source: "setting" }
  return { id: model, source: "default" }
}
