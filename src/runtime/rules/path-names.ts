// The special parts of paths, and the normal form of module names.
/** The global object. */
export const globalPath = "globalThis"
/** The constructor of any value. The constructor of a function is `Function`, which evaluates strings. */
export const constructorPath = "(constructor)"
/** The prototype of any value. */
export const prototypePath = "(prototype)"
/** Marks the path of a promise, as `import()` returns. */
export const promisePrefix = "await "

/** Returns a module's name in the form that rules compare: no `node:`, whitespace, upper-case scheme or escaped dots.
 *  */
export function normalizeModuleName(specifier: string): string {
  const name = specifier
    .trim()
    .replace(/[\t\r\n]/g, "")
    .replace(/%2e/gi, ".")
    .replaceAll("\\", "/")
  return name.replace(/^[a-z][a-z\d+.-]*:/i, (scheme) => scheme.toLowerCase()).replace(/^node:/, "")
}
