// Replaces `${NAME}` in texts of the configuration by environment variables.
import { ConfigError } from "../core/errors.ts"
import type { Environment } from "./find-files.ts"

/** Replaces every `${NAME}`. Throws a `ConfigError` if a variable is not set; The message says
 *  that `use` needs it. */
export function expandVariables(text: string, env: Environment, use: string): string {
  return text.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = env[name]
    if (value) return value
    throw new ConfigError(
      `${use} needs the environment variable ${name}, and it is not set. Set it, or change the configuration.`,
      {
        code: "missing-key",
        details: { variable: name },
      },
    )
  })
}

/** The same for each text of an object. */
export function expandRecord(
  values: Readonly<Record<string, string>>,
  env: Environment,
  use: string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, text]) => [name, expandVariables(text, env, use)]))
}
