// Reads the environment variables that set defaults of coding-CLI agents. No other file reads them.
/** Defaults for options that are not given. */
export function environmentDefaults(env: NodeJS.ProcessEnv = process.env) {
  const names = (env.KARST_PROVIDER ?? "").split(",").map((name) => name.trim())
  const providers = names.filter((name) => name !== "")
  return {
    /** `KARST_PROVIDER`: names in order of preference, separated by commas. */
    providers: providers.length > 0 ? providers : undefined,
    /** `KARST_MODEL`: a model or a tier. */
    model: env.KARST_MODEL || undefined,
    /** `KARST_EFFORT`. */
    reasoning: env.KARST_EFFORT || undefined,
    /** `KARST_AUTOWAIT`: false for 0, false, no and off. */
    autoWait: !/^(0|false|no|off)$/i.test(env.KARST_AUTOWAIT ?? ""),
  }
}
