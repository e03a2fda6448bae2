// Lists built-in functions by what they do with their arguments, for the rules.

/** Functions that load the module named by the first argument. */
export const moduleLoaders: ReadonlySet<string> = new Set([
  "require",
  "require.main.require",
  "process.mainModule.require",
  "process.getBuiltinModule",
  "module.require",
  "module._load",
  "module.Module._load",
])

/** Functions that return a module loader. */
export const moduleLoaderFactories: ReadonlySet<string> = new Set([
  "module.createRequire",
  "module.Module.createRequire",
])

/** Functions that read a member of the first argument; the second argument is its name. */
export const memberReads: ReadonlySet<string> = new Set([
  "Reflect.get",
  "Reflect.getOwnPropertyDescriptor",
  "Object.getOwnPropertyDescriptor",
])

/** Functions that write a member of the first argument; the second argument is its name. */
export const memberWrites: ReadonlySet<string> = new Set([
  "Reflect.set",
  "Reflect.defineProperty",
  "Reflect.deleteProperty",
  "Object.defineProperty",
])

/** Functions that change the first argument as a whole. */
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

/** Functions that read only the member names of the first argument. */
export const memberNameReads: ReadonlySet<string> = new Set([
  "Reflect.has",
  "Reflect.ownKeys",
  "Object.getOwnPropertyNames",
  "Object.hasOwn",
  "Object.keys",
])

/** Functions that return the prototype of the first argument. */
export const prototypeReads: ReadonlySet<string> = new Set(["Reflect.getPrototypeOf", "Object.getPrototypeOf"])
