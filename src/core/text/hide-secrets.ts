// Hides secrets in texts that are shown to a person. One rule for lists of the configuration and for error messages:
// - of a secret, only the variables `${NAME}` in it are shown;
// - of an address, the scheme, the host, the port and ordinary words of the path, such as `v1`, are shown;
// - of the arguments of a program, names of options, scripts and packages with a scope are shown.

export const hidden = "(hidden)"

/** True for names of keys, options, headers and environment variables that hold a secret. */
export function isSecretName(name: string): boolean {
  return /key|token|secret|password|credential|authorization/i.test(name)
}

/** Hides a text except the variables in it: `Bearer ${TOKEN}` is shown as it is written. */
export function hideSecret(text: string): string {
  const parts = text.split(variable)
  return parts.map((part, index) => (index % 2 === 1 || isScheme.test(part) ? part : hidden)).join("")
}

const variable = /(\$\{\w+\})/
const isScheme = /^((Bearer|Basic|token)\s)?\s*$/i

/** Hides what may be secret in every address of a text, and in ids such as `openai-compatible:https://host/v1#model`,
 *  of which the name of the model is shown. Paths of files are shown. A text that starts with an address is one address,
 *  because a password or a path may contain spaces and quotes; elsewhere an address ends with the word. */
export function hideInAddresses(text: string): string {
  const whole = addressAtStart.exec(text)
  if (whole) return hideInAddress(text, whole[1], whole[2] ?? "", text.slice(whole[0].length))
  return text.replace(addressInText, hideInAddress)
}

// The length of a scheme is limited, so that a long text without one takes linear time.
const start = /(openai-compatible:)?(\b(?:https?|rediss?|wss?):\/{0,2}|[a-z][a-z\d+.-]{0,30}:\/\/)/
const addressAtStart = new RegExp(`^${start.source}`, "i")
const addressInText = new RegExp(`${start.source}(\\S*[^\\s"'\`<>.,;:!?()\\]}])`, "gi")

function hideInAddress(all: string, id: string | undefined, scheme: string, rest: string): string {
  if (/^file:/i.test(scheme)) return all
  const mark = id === undefined ? -1 : rest.indexOf("#")
  const [location, model] = mark === -1 ? [rest, ""] : [rest.slice(0, mark), rest.slice(mark)]
  return `${id ?? ""}${scheme}${hideInLocation(location)}${model}`
}

/** Hides the user names and passwords in the addresses of a text, and shows their paths. */
export function hideUsers(text: string): string {
  // A password may contain any character except a space.
  return text.replace(/(?<=:\/\/)\S*@/g, `${hidden}@`)
}

/** Hides in what follows the scheme. A password may contain any character, so everything before the last `@` is
 *  hidden. */
function hideInLocation(text: string): string {
  const at = text.lastIndexOf("@")
  const user = at === -1 ? "" : `${hideSecret(text.slice(0, at))}@`
  const [, host = "", path = "", query = "", fragment = ""] =
    /^([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text.slice(at + 1)) ?? []
  const words = path.split("/").map((word) => (ordinaryWord.test(word) ? word : hideSecret(word)))
  return [user, host, words.join("/"), hideAfterSign(query), hideAfterSign(fragment)].join("")
}

const ordinaryWord =
  /^(\d{1,3}|v\d+(alpha|beta)?\d*|api|openai|anthropic|inference|compatible-mode|paas|gateway|models|chat|completions|messages|mcp|sse)?$/i

/** Hides a query or a fragment, which begins with a sign. */
function hideAfterSign(text: string): string {
  return `${text.slice(0, 1)}${hideSecret(text.slice(1))}`
}

/** Hides an argument of a program except variables, the name of an option, as in `--token` and `--port=1`, a script and
 *  a package with a scope. Whether another argument is secret cannot be seen. */
export function hideArgument(argument: string): string {
  if (isProgram(argument)) return argument
  const [, option = "", rest = ""] = /^(-[a-z]$|--[a-z][a-z-]*(?==|$)=?)?(.*)$/is.exec(argument) ?? []
  return `${option}${hideSecret(rest)}`
}

/** True for `server.js`, `tools/server.py` and `@scope/server@1`. */
export function isProgram(argument: string): boolean {
  return /^[^\s:=?]+\.([cm]?[jt]s|py)$/.test(argument) || /^@[a-z\d-]+\/[a-z\d.-]+(@[\w.^~-]+)?$/.test(argument)
}
