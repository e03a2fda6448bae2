/** What the environment says where the options do not. */
export interface EnvironmentDefaults {
  /** `KARST_PROVIDER`: names in the order of preference, separated by commas. */
  providers: readonly string[] | undefined
  /** `KARST_MODEL`: a model or a tier. */
  model: string | undefined
  /** `KARST_EFFORT`. */
  reasoning: string | undefined
  /** `KARST_AUTOWAIT`: false for 0, false, no and off. */
  autoWait: boolean
}

/** The only place that reads them; called whenever options are made sense of. */
export function environmentDefaults(env: NodeJS.ProcessEnv = process.env): EnvironmentDefaults {
  const names = (env.KARST_PROVIDER ?? "").split(",").map((name) => name.trim())
  const providers = names.filter((name) => name !== "")
  return {
    providers: providers.length > 0 ? providers : undefined,
    model: env.KARST_MODEL || undefined,
    reasoning: env.KARST_EFFORT || undefined,
    autoWait: !/^(0|false|no|off)$/i.test(env.KARST_AUTOWAIT ?? ""),
  }
}
