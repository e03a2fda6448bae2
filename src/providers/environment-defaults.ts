// Reads the environment variables that set defaults of coding-CLI agents. No other file reads them.
/** Defaults for options that are not given. */
export interface EnvironmentDefaults {
  /** `KARST_PROVIDER`: names in order of preference, separated by commas. */
  providers: readonly string[] | undefined
  /** `KARST_MODEL`: a model or a tier. */
  model: string | undefined
  /** `KARST_EFFORT`. */
  reasoning: string | undefined
  /** `KARST_AUTOWAIT`: false for 0, false, no and off. */
  autoWait: boolean
}

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
