// What built-in functions do with their arguments, as far as rules need to know.

/** Load the module that the first argument names. */
export const moduleLoaders: ReadonlySet<string> = new Set([
  "require",
  "require.main.require",
  "process.mainModule.require",
  "process.getBuiltinModule",
  "module.require",
  "module._load",
  "module.Module._load",
])

/** Make a loader. */
export const moduleLoaderFactories: ReadonlySet<string> = new Set([
  "module.createRequire",
  "module.Module.createRequire",
])

/** Read the member of the first argument that the second names. */
export const memberReads: ReadonlySet<string> = new Set([
  "Reflect.get",
  "Reflect.getOwnPropertyDescriptor",
  "Object.getOwnPropertyDescriptor",
])

/** Write the member of the first argument that the second names. */
export const memberWrites: ReadonlySet<string> = new Set([
  "Reflect.set",
  "Reflect.defineProperty",
  "Reflect.deleteProperty",
  "Object.defineProperty",
])

/** Write to the first argument as a whole. */
export const objectWrites: ReadonlySet<string> = new Set([
  "Reflect.setPrototypeOf",
  "Reflect.preventExtensions",
  "Object.assign",
  "Object.defineProperties",
  "Object.freeze",
  "Object.preventExtensions",
  "Object.seal",
  "Object.setPrototypeOf",
])

/** Ask the first argument for the names of its members only. */
export const memberNameReads: ReadonlySet<string> = new Set([
  "Reflect.has",
  "Reflect.ownKeys",
  "Object.getOwnPropertyNames",
  "Object.hasOwn",
  "Object.keys",
])

/** Give the prototype of the first argument. */
export const prototypeReads: ReadonlySet<string> = new Set(["Reflect.getPrototypeOf", "Object.getPrototypeOf"])
