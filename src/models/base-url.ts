// Checks the base URL of a model, to which the paths of requests are appended.
import { hidden, hideInAddresses } from "../core/text/hide-secrets.ts"

/** Returns what is wrong with a base URL, as the end of a sentence with the cure; undefined if it is valid. Variables
 *  such as `${HOST}` stand for any text. The message does not contain the address. */
export function baseUrlProblem(text: string): string | undefined {
  const filled = text.replaceAll(/\$\{\w+\}/g, "0")
  // The variable at the start contains the scheme.
  const url = text.startsWith("${") ? `https://${filled}` : filled
  if (!(/^https?:/i.test(url) && URL.canParse(url))) return "is not a base URL. Write it whole, as https://host/v1"
  const { username, password } = new URL(url)
  // No request can be sent to such an address, and the error of `fetch` would show the password.
  if (username !== "" || password !== "")
    return "contains a user name or a password. Leave it out, and give it as `apiKey` or in `headers`"
  const [sign] = /[?#]/.exec(url) ?? []
  if (sign === undefined) return undefined
  return `contains a "${sign}", and the paths of requests would be appended after it. Leave out what begins there, and give a key as \`apiKey\` or in \`headers\``
}

/** A base URL for messages, without secrets. */
export function shownBaseUrl(text: string): string {
  return text.includes("://") ? hideInAddresses(text) : text.replace(/^.*@/s, `${hidden}@`)
}
