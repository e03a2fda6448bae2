// The result of one check of `karst doctor`, and the removal of secrets from its texts.
import { hidden, isSecretName } from "../../core/text/hide-secrets.ts"

export interface Check {
  /** The word by which `--need` names it; a package has its own name. */
  name: string
  /** `missing`: not there, or not set up. `broken`: there, but it does not work. */
  state: "ok" | "missing" | "broken"
  /** What was found. */
  text: string
  /** What to do about it. */
  cure?: string
  /** True if it must be ok, because the command line or the configuration asks for it. */
  asked?: boolean
}

/** The check that failed with this error. Messages of Karst contain the cure. */
export function failedCheck(name: string, error: unknown, state: Check["state"] = "broken"): Check {
  return { name, state, text: error instanceof Error ? error.message : String(error) }
}

/** Replaces the values of keys, tokens and passwords in the environment, and passwords in addresses, by their names. */
export function withoutSecrets(check: Check, env: NodeJS.ProcessEnv = process.env): Check {
  const hide = (text: string) => hideSecrets(text, env)
  return { ...check, text: hide(check.text), ...(check.cure !== undefined && { cure: hide(check.cure) }) }
}

function hideSecrets(text: string, env: NodeJS.ProcessEnv): string {
  const secrets = Object.entries(env).filter(([name, value = ""]) => isSecretName(name) && value.length >= 6)
  const named = secrets.reduce((shown, [name, value = ""]) => shown.replaceAll(value, `(${name})`), text)
  return named.replace(/(?<=:\/\/)[^\s/@]*@/g, `${hidden}@`)
}
