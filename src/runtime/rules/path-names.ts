/** The global object. */
export const globalPath = "globalThis"
/** The constructor of anything: of a function it is `Function`, which makes code of text. */
export const constructorPath = "(constructor)"
/** The prototype of anything. */
export const prototypePath = "(prototype)"
/** Before a path: a promise for it, as `import()` gives. */
export const promisePrefix = "await "

/** A module's name in the one form that rules compare: no `node:`, no tricks with white space, case or dots. */
export function normalizeModuleName(specifier: string): string {
  const name = specifier
    .trim()
    .replace(/[\t\r\n]/g, "")
    .replace(/%2e/gi, ".")
    .replaceAll("\\", "/")
  return name.replace(/^[a-z][a-z\d+.-]*:/i, (scheme) => scheme.toLowerCase()).replace(/^node:/, "")
}
