// The result of one check of `karst doctor`, and the removal of secrets from its texts.
import { hideUsers, isSecretName } from "../../core/text/hide-secrets.ts"

/** What was checked and found. A check that is not ok says what to do about it. */
export type Check = CheckedPart & ({ state: "ok"; remedy?: never } | FailedCheck)

interface CheckedPart {
  /** The word by which `--need` names it; a package has its own name. */
  name: string
  /** What was found, without what to do about it. */
  text: string
  /** True if it must be ok, because the command line or the configuration asks for it. */
  asked?: boolean
}

interface FailedCheck {
  /** `missing`: not there, or not set up. `broken`: there, but it does not work. */
  state: "missing" | "broken"
  /** What to do about it. */
  remedy: string
}

/** The check that failed with this error. A message of Karst says what is wrong in its first sentence, and what to do in
 *  the others; `remedy` is used for a message of one sentence. */
export function failedCheck(
  name: string,
  error: unknown,
  { state = "broken", remedy }: { state?: FailedCheck["state"]; remedy: string },
): Check {
  const message = error instanceof Error ? error.message : String(error)
  const end = /[^.\s]{2}[.?!](?=\s+["`(]?[A-Z])/.exec(message)
  if (!end) return { name, state, text: message, remedy }
  const length = end.index + end[0].length
  return { name, state, text: message.slice(0, length), remedy: message.slice(length).trimStart() }
}

/** Replaces the values of keys, tokens and passwords in the environment, and passwords in addresses, by their names. */
export function withoutSecrets(check: Check, env: NodeJS.ProcessEnv = process.env): Check {
  const text = hideSecrets(check.text, env)
  return check.state === "ok" ? { ...check, text } : { ...check, text, remedy: hideSecrets(check.remedy, env) }
}

function hideSecrets(text: string, env: NodeJS.ProcessEnv): string {
  const secrets = Object.entries(env).filter(([name, value = ""]) => isSecretName(name) && value.length >= 6)
  // The longest first: a secret may contain another one.
  const sorted = secrets.toSorted(([, one = ""], [, other = ""]) => other.length - one.length)
  const named = sorted.reduce((shown, [name, value = ""]) => shown.replaceAll(value, () => `(${name})`), text)
  return hideUsers(named)
}
