import { attributeRule, functionRule, importRule, type Rule, regexRule } from "../../../src/runtime/rules/rules.ts"
import { safeRules } from "../../../src/runtime/rules/safe-rules.ts"

// Cells that a model could write: those that rules must refuse, and those that must pass.

export interface BlockCase {
  title: string
  code: string
  rules: Rule[]
  /** The rule that must refuse the cell, and the line of the violation. */
  rule: string
  line: number
  /** An expression that is true after the unchecked code has run, which proves that the attack works. */
  proof: string | undefined
}

export interface AllowCase {
  title: string
  code: string
  rules: Rule[]
}

const safe = safeRules()
const noFiles = [importRule(["fs", "child_process", "os"])]
const onlyD3 = [importRule({ only: ["d3", "@scope/charts", "./lib/"] })]
const noOpen = [functionRule(["open", "exec", "process.exit", "Math.random"])]
const noSecret = [attributeRule(["secret", "__proto__"])]
const noDrop = [regexRule("drop\\s+table"), regexRule(/\bTODO\b/)]
const loadsFiles = '"readFileSync" in m'
const makesCode = "(await f()) === 2"

/** The same attacks on a list literal, and on the result of a function, whose elements the code does not show. */
function ofAnyList(cases: Record<string, string | [line: number, code: string]>): typeof cases {
  const given = (code: string) =>
    code.replaceAll(/\[((?:async )?\(\) => \{\}|function\* \(\) \{\}|\[\])\](?=[.)\n])/g, "Array.of($1)")
  const others = Object.entries(cases).map(([title, each]): [string, (typeof cases)[string]] => [
    `${title}, of a list that a function gives`,
    typeof each === "string" ? given(each) : [each[0], given(each[1])],
  ])
  return { ...cases, ...Object.fromEntries(others) }
}

export const blocked: BlockCase[] = [
  ...refused(noFiles, "import", {
    "a static import": 'import fs from "fs"',
    "a named import": [2, `const x = 1\nimport { readFileSync } from "fs"`],
    "an import for side effects": 'import "child_process"',
    "the node: prefix": 'import * as files from "node:fs"',
    "a submodule": 'import { readFile } from "fs/promises"',
    "a submodule with the prefix": 'import { readFile } from "node:fs/promises"',
    "a re-export": 'export { spawn } from "child_process"',
    "a re-export of everything": 'export * from "node:os"',
    "TypeScript's import =": 'import fs = require("fs")',
    "a mix of type and value imports": 'import { type Stats, statSync } from "fs"',
    "a dynamic import inside a function": [2, `async function f() {\n  return import("fs")\n}`],
    "a specifier nobody can know": "await import(names[0])",
    "a specifier that is assigned twice": [3, `let name = "path"\nname = "fs"\nawait import(name)`],
    "a specifier that a later cell may change": [2, `const name = "path"\nconst load = () => import(name)`],
    "a specifier that is a parameter": "const load = (name: string) => import(name)",
    require: 'const fs = require("fs")',
    "an alias of require": `const load = require\nload("fs")`,
    "an alias of require in a function": [3, `function f() {\n  const load = require\n  return load("fs")\n}`],
    "require taken from a list": '[require][0]("fs")',
    "require called through call": 'require.call(null, "fs")',
    "module.require": 'module.require("fs")',
    "process.mainModule.require": 'process.mainModule.require("fs")',
    createRequire: [
      3,
      `import { createRequire } from "module"\nconst require = createRequire("file:///x.js")\nrequire("fs")`,
    ],
    "createRequire kept under another name": 'import { createRequire as make } from "module"',
    "a scheme broken by white space": 'await import(" no\\nde:fs")',
    "a path that climbs out of a package": 'await import("lodash/../../secrets.js")',
    "a path that climbs out, encoded": 'await import("lodash/%2e%2E/secrets.js")',
    "a tag that loads": "require`fs`",
    "the module of loaders under another name": 'import * as m from "node:module"',
    "an unknown member of process, which loads modules": 'process[name]("fs")',
  }),
  ...refused(
    noFiles,
    "import",
    {
      "a dynamic import": 'const m = await import("fs")',
      "a template string as specifier": "const m = await import(`fs`)",
      "a template string with constants in it": 'const m = await import(`${"f"}s`)',
      "a concatenated specifier": 'const m = await import("f" + "s")',
      "a specifier held in constants": [
        3,
        `const prefix = "node:"\nconst name = prefix + "fs"\nconst m = await import(name)`,
      ],
      "a specifier joined from pieces": 'const m = await import(["f", "s"].join(""))',
      "getBuiltinModule taken out of process": [
        3,
        `function load() {\n  const { getBuiltinModule: get } = process\n  return get("node:fs")\n}\nconst m = load()`,
      ],
      "getBuiltinModule through a computed name": 'const m = process["getBuiltin" + "Module"]("fs")',
      "createRequire called at once": 'const m = (await import("node:module")).createRequire("file:///x.js")("fs")',
      "a scheme in capitals": `const m = await import("DATA:text/javascript,export * from 'fs'")`,
      "process.getBuiltinModule": 'const m = process.getBuiltinModule("fs")',
      "a module made of text": `const m = await import("data:text/javascript,export * from 'fs'")`,
    },
    loadsFiles,
  ),
  ...refused([importRule(["node:fs"])], "import", {
    "a denied module written without its prefix": 'import "fs"',
  }),
  ...refused(onlyD3, "import", {
    "what an allow list does not name": 'import _ from "lodash"',
    "a longer name than the allow list's": 'import "d3x"',
    "a file beside the allowed folder": 'import "./other.ts"',
    "a file reached through the allowed folder": 'import "./lib/../other.ts"',
  }),
  ...refused(safe, "import", {
    "a module of the safe profile: processes": 'import { execSync } from "child_process"',
    "a module of the safe profile: files": 'await import("node:fs/promises")',
    "a module of the safe profile: databases on disk": 'import { DatabaseSync } from "node:sqlite"',
    "a module of the safe profile: threads": 'import { Worker } from "worker_threads"',
    "a module of the safe profile: servers": 'import http from "http"',
    "a module of the safe profile: vm": 'const vm = await import("vm")',
    "a module of the safe profile: module loading": 'import { createRequire } from "node:module"',
    "a module of the safe profile: the real process": 'import { exit } from "process"',
    "a program in the working directory": 'await import("./deploy.ts")',
    "a file by its absolute path": 'await import("/etc/app.json", { with: { type: "json" } })',
    "a file by its address": 'await import("file:///etc/app.mjs")',
    "a package that starts processes": 'import { execa } from "execa"',
  }),
  ...refused(noOpen, "function", {
    "a call": 'open("x")',
    "a call of a call": 'open("x")()',
    "an alias": "const f = open\nf()",
    "an alias by assignment": [2, "let f\nf = open"],
    "a function taken from a list": "[open][0]()",
    "a function put in an object": "const o = { run: open }",
    "a function in shorthand": [2, "const o = {\n  open,\n}"],
    "a function passed on": "names.map(open)",
    "a function as a default": "function go(f = open) { return f }",
    "a method of the function": 'open.call(null, "x")',
    "a tagged template": "exec`ls`",
    "a name used outside the scope that declares it": [2, "{ const open = 1 }\nopen()"],
    "a name only a type declares": [2, "interface open { x: 1 }\nopen()"],
    "an escaped identifier": 'o\\u0070en("x")',
    "a member of globalThis": "globalThis.open()",
    "a computed member of globalThis": 'globalThis["op" + "en"]()',
    "an optional member of window": "window?.open?.()",
    "globalThis through itself": "globalThis.global.globalThis.open",
    "an alias of globalThis": [3, "{\n  const g = globalThis\n  g.open()\n}"],
    "an alias of globalThis for later cells": "const g = globalThis",
    "globalThis by assignment": [2, "let g\ng = globalThis\ng.open()"],
    "globalThis in a list": "[globalThis][0].open()",
    "globalThis as an argument": "((g) => g.open())(globalThis)",
    "globalThis spread": "const all = { ...globalThis }",
    destructuring: "const { open } = globalThis",
    "destructuring under another name": 'const { ["op" + "en"]: f } = globalThis',
    "destructuring the rest": "const { Math, ...rest } = globalThis",
    "destructuring by assignment": [2, "let f\n;({ open: f } = globalThis)"],
    "Reflect.get": 'Reflect.get(globalThis, "open")()',
    "Reflect.get with an unknown name": "Reflect.get(globalThis, name)()",
    "a property descriptor": 'Object.getOwnPropertyDescriptor(globalThis, "open").value()',
    "an unknown member of globalThis": "globalThis[name]()",
    "a member that a later cell may change": [2, `const name = "log"\nconst f = () => globalThis[name]`],
    "what gives back its argument": "Object.freeze(globalThis).open()",
    "what gives back its argument, kept": "const g = Object.assign(globalThis, {})",
    "a dotted name": "process.exit(1)",
    "a dotted name through globalThis": 'globalThis.process["exit"](1)',
    "a dotted name out of its object": "const { exit } = process",
    "a dotted name out of nested patterns": "const { process: { exit: leave } } = globalThis",
    "a dotted name through an import": 'import { exit as leave } from "node:process"',
    "a dotted name through a dynamic import": '(await import("process")).default.exit()',
    "an unknown member of its object": "process[name](1)",
    "its object handed over": "leave(process)",
    "a dotted name out of a promise": 'import("process").then((p) => p.exit())',
    "a dotted name out of a promise that is kept": [
      3,
      `async function f() {\n  const p = import("process")\n  return (await p).exit\n}`,
    ],
    "a name that is only declared to the types": [2, "declare const process: any\nprocess.exit()"],
    "TypeScript's alias": "import f = globalThis.open",
    "a variable that is assigned again": [2, "{\n  let g = globalThis\n  g = other\n}"],
    "a default export": "export default open",
    "a class field": [2, "class A {\n  run = open\n}"],
    "a dotted name as a value": "const values = rows.map(Math.random)",
    "a function in an enum": [2, "enum E {\n  A = open(),\n}"],
    "a function in a namespace": [2, "namespace N {\n  export const f = open\n}"],
    "a function behind a type": "(open as unknown as () => void)()",
  }),
  ...refused([functionRule("fs.rmSync")], "function", {
    "a dotted name of a module": [2, `import fs from "fs"\nfs.rmSync("x")`],
  }),
  ...refused(safe, "function", {
    "the environment": "const key = process.env.OPENAI_API_KEY",
    "ending the process": "process.exit(0)",
    "a signal to another process": 'process.kill(1, "SIGKILL")',
    "native bindings": 'process.binding("spawn_sync")',
    "listening to the host's failures": 'process.on("uncaughtException", () => {})',
    "the process as a whole": "console.log(process)",
    "compiled machine code": "await WebAssembly.instantiate(bytes)",
    "a wait nothing can interrupt": "Atomics.wait(cells, 0, 0)",
  }),
  ...refused(
    safe,
    "function",
    {
      eval: 'const f = () => eval("1 + 1")',
      "eval, not quite direct": 'const f = () => (0, eval)("1 + 1")',
      "eval by two pieces of its name": 'const f = globalThis["ev" + "al"].bind(null, "1 + 1")',
      "eval in small letters made of capitals": 'const f = globalThis["EVAL".toLowerCase()].bind(null, "1 + 1")',
      "new Function": 'const f = new Function("return 1 + 1")',
      "Function without new": 'const f = Function("return 1 + 1")',
      "Reflect.construct": 'const f = Reflect.construct(Function, ["return 1 + 1"])',
      "a class that extends Function": `class F extends Function {}\nconst f = new F("return 1 + 1")`,
    },
    makesCode,
  ),
  ...refused(noSecret, "attribute", {
    "a member": "user.secret",
    "a member that is called": "user.secret()",
    "a member in the middle of a chain": [3, "const x =\n  user\n    .secret\n    .length"],
    "an optional member": "user?.secret",
    "a member that is written": "user.secret = 1",
    "a computed member": 'user["sec" + "ret"]',
    "a computed member by a constant": [2, `const key = "secret"\nuser[key]`],
    "a member taken out by a pattern": "const { secret } = user",
    "a member taken out of a parameter": "users.map(({ secret: s }) => s)",
    "a member taken out by assignment": [2, "let s\n;({ secret: s } = user)"],
    "a member by Reflect.get": 'Reflect.get(user, "secret")',
    "a member by its descriptor": 'Object.getOwnPropertyDescriptor(user, "secret")',
    "a member by Object.defineProperty": 'Object.defineProperty(user, "secret", { value: 1 })',
    "a prototype set in a literal": "const o = { __proto__: other }",
  }),
  ...refused([attributeRule("#secret")], "attribute", {
    "a private member": [3, "class A {\n  #secret = 1\n  get() { return this.#secret }\n}"],
  }),
  ...refused(safe, "attribute", {
    "the prototype of a plain object": "({}).__proto__.polluted = true",
    "the prototype by a computed name": '({})["__proto" + "__"].polluted = true',
  }),
  ...refused(
    safe,
    "constructor",
    {
      "the constructor of a function": 'const f = (() => {}).constructor("return 1 + 1")',
      "the constructor of a constructor": 'const f = [].constructor.constructor("return 1 + 1")',
      "the constructor of a method": 'const f = "".sub.constructor("return 1 + 1")',
      "the constructor by a computed name": 'const f = (() => {})["con" + "structor"]("return 1 + 1")',
      "the constructor by a joined name": 'const f = (() => {})[["con", "structor"].join("")]("return 1 + 1")',
      "the constructor taken out by a pattern": `const { constructor: F } = () => {}\nconst f = F("return 1 + 1")`,
      "the constructor taken out by nested patterns": `const { constructor: { constructor: F } } = []\nconst f = F("return 1 + 1")`,
      "the constructor by Reflect.get": 'const f = Reflect.get(() => {}, "constructor")("return 1 + 1")',
      "the constructor by its descriptor":
        'const f = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(() => {}), "constructor").value("return 1 + 1")',
      "the constructor called through call": 'const f = (() => {}).constructor.call(null, "return 1 + 1")',
      "the constructor handed over": 'const f = Reflect.construct((() => {}).constructor, ["return 1 + 1"])',
      "the constructor of this, where this is a class": [
        2,
        `class A {\n  static make(code) { return this.constructor(code) }\n}\nconst f = A.make("return 1 + 1")`,
      ],
      "the constructor by all descriptors":
        'const f = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(() => {})).constructor.value("return 1 + 1")',
      "a class that extends a constructor": `class F extends (() => {}).constructor {}\nconst f = new F("return 1 + 1")`,
      "the constructor kept for later": [
        3,
        `function make(code) {\n  const F = make.constructor\n  return F(code)\n}\nconst f = make("return 1 + 1")`,
      ],
      "the constructor of async functions":
        'const f = Object.getPrototypeOf(async () => {}).constructor("return 1 + 1")',
    },
    makesCode,
  ),
  ...refused(
    safe,
    "constructor",
    ofAnyList({
      "a column that is called": 'const f = [() => {}].map((r) => r.constructor)[0]("return 1 + 1")',
      "a column that is called in its callback": 'const f = [() => {}].map((r) => r.constructor("return 1 + 1"))[0]',
      "a column taken out and called": 'const f = [() => {}].map(({ constructor: C }) => C("return 1 + 1"))[0]',
      "a column taken out in a function": [
        1,
        'const make = ({ constructor: C }) => C("return 1 + 1")\nconst f = make(() => {})',
      ],
      "a column taken out with a default": 'const f = [() => {}].map(({ constructor: C = 1 }) => C("return 1 + 1"))[0]',
      "a column taken out twice": 'const f = [[]].map(({ constructor: { constructor: C } }) => C("return 1 + 1"))[0]',
      "a column taken out in a loop": [2, 'let f\nfor (const { constructor: C } of [() => {}]) f = C("return 1 + 1")'],
      "a column in a loop": [2, 'let f\nfor (const g of [() => {}]) f = g.constructor("return 1 + 1")'],
      "a column with new": 'const f = [() => {}].map((r) => new r.constructor("return 1 + 1"))[0]',
      "a column of a column": 'const f = [[]].map((r) => r.constructor).map((c) => c.constructor)[0]("return 1 + 1")',
      "a column through at": 'const f = [() => {}].map((r) => r.constructor).at(0)("return 1 + 1")',
      "a column through a pattern": [
        2,
        'const fs = [() => {}]\nconst [C] = fs.map((r) => r.constructor)\nconst f = C("return 1 + 1")',
      ],
      "a column through a variable":
        'const all = [() => {}].map((r) => r.constructor)\nconst f = all[0]("return 1 + 1")',
      "a column in an array": 'const f = [() => {}].map((r) => [r.constructor][0]("return 1 + 1"))[0]',
      "a column in an object": 'const f = [() => {}].map((r) => ({ c: r.constructor }).c("return 1 + 1"))[0]',
      "a column in an object that has a name":
        'const f = [() => {}].map((r) => {  const o = { c: r.constructor }; return o.c("return 1 + 1") })[0]',
      "a column in an object, named as a method":
        'const f = [() => {}].map((r) => ({ map: r.constructor }).map("return 1 + 1"))[0]',
      "a column in a local variable":
        'const f = [() => {}].map((r) => { const C = r.constructor ?? 0; return C("return 1 + 1") })[0]',
      "a column in a variable outside": [
        2,
        'let C\n;[() => {}].forEach((r) => { C = r.constructor })\nconst f = C("return 1 + 1")',
      ],
      "a column spread into a call":
        'const f = [() => {}].map((r) => ((...[C]) => C("return 1 + 1"))(...[r.constructor]))[0]',
      "a column behind or": 'const f = [() => {}].map((r) => (r.constructor || 0)("return 1 + 1"))[0]',
      "a column behind a choice": 'const f = [() => {}].map((r) => (r ? r.constructor : 0)("return 1 + 1"))[0]',
      "a column handed to a function": 'const f = [() => {}].map((r) => ((C) => C("return 1 + 1"))(r.constructor))[0]',
      "a column handed to a function by name": [
        2,
        'const run = (C) => C("return 1 + 1")\nconst f = [() => {}].map((r) => run(r.constructor))[0]',
      ],
      "a column by Reflect.construct":
        'const f = [() => {}].map((r) => Reflect.construct(r.constructor, ["return 1 + 1"]))[0]',
      "a column by Reflect.apply":
        'const f = [() => {}].map((r) => Reflect.apply(r.constructor, null, ["return 1 + 1"]))[0]',
      "a column through reduce":
        'const f = [() => {}].map((r) => r.constructor).reduce((_, C) => C("return 1 + 1"), 0)',
      "a column through then":
        'const f = await Promise.resolve(() => {}).then((r) => r.constructor).then((C) => C("return 1 + 1"))',
      "a column of a generator": 'const f = [function* () {}].map((r) => r.constructor("yield 1")) && (() => 2)',
      "a column of an async function": 'const f = [async () => {}].map((r) => r.constructor("return 1 + 1"))[0]',
      "a column as a class to extend":
        'const f = [() => {}].map((r) => new (class extends r.constructor {})("return 1 + 1"))[0]',
      "a column as a tag": "const f = [() => {}].map((r) => r.constructor`return 1 + 1`)[0]",
      "a column by a computed name": 'const f = [() => {}].map((r) => r["con" + "structor"])[0]("return 1 + 1")',
      "a column by Reflect.get": 'const f = [() => {}].map((r) => Reflect.get(r, "constructor"))[0]("return 1 + 1")',
      "a column of a prototype":
        'const f = [() => {}].map((r) => Object.getPrototypeOf(r).constructor)[0]("return 1 + 1")',
      "a column of a method": 'const f = [[]].map((r) => r.map.constructor)[0]("return 1 + 1")',
      "a column that outlives the cell": [
        2,
        'const g = () => {}\nconst C = g.constructor\nconst f = C("return 1 + 1")',
      ],
    }),
    makesCode,
  ),
  ...refused(safe, "builtin", {
    "a function of a built-in module": [2, "import path from 'node:path'\npath.join = () => 'pwned'"],
    "a member of a named import": [
      2,
      "import { EventEmitter } from 'node:events'\nEventEmitter.prototype.emit = () => true",
    ],
    "an option of a built-in module": [2, "import * as util from 'util'\nutil.inspect.defaultOptions.depth = 0"],
    "a module loaded while running": "(await import('node:path')).default.join = () => 'pwned'",
    "a module under another name": [2, "const p = await import('node:path')\np.posix.sep = ':'"],
    "a module assigned as a whole": [2, "import util from 'node:util'\nObject.assign(util, { inspect: 1 })"],
    "a module's member removed": [2, "import util from 'node:util'\ndelete util.inspect"],
    "a module's member defined": [
      2,
      "import util from 'node:util'\nObject.defineProperty(util, 'inspect', { value: 1 })",
    ],
  }),
  ...refused(safe, "constructor", {
    "the constructor of this in a static method": [
      2,
      "class A {\n  static make(code) { return new this.constructor(code) }\n}",
    ],
    "the constructor of this in a function": "function make(code) { return new this.constructor(code) }",
    "the constructor behind a type": '((() => {}).constructor as FunctionConstructor)("return 1 + 1")',
  }),
  ...refused(safe, "builtin", {
    "a method added to every array": "Array.prototype.last = function () { return this.at(-1) }",
    "a method replaced for everybody": "JSON.parse = (text) => null",
    "a member deleted for everybody": "delete Object.prototype.toString",
    "a global replaced": "globalThis.Promise = class {}",
    "how errors are shown, replaced": "Error.prepareStackTrace = (_, frames) => frames",
    "a prototype written through an alias": [3, "{\n  const P = Array.prototype\n  P.last = 1\n}"],
    "a member of a prototype nobody can know": "Array.prototype[name] = 1",
    "a prototype written by a pattern": ";[Array.prototype.last] = [1]",
    "a prototype written by a loop": "for (Array.prototype.last of [1]);",
    "a prototype written through an instance": "Object.getPrototypeOf([]).last = 1",
    "Object.assign on a prototype": "Object.assign(Object.prototype, { polluted: true })",
    "Object.defineProperty on a prototype": 'Object.defineProperty(Object.prototype, "x", { value: 1 })',
    "Object.defineProperty with an unknown name": "Object.defineProperty(Array.prototype, name, {})",
    "Object.assign on a built-in": "Object.assign(Math, { random: () => 4 })",
    "Object.freeze on a built-in": "Object.freeze(Array.prototype)",
  }),
  ...refused(noDrop, "regex", {
    "a pattern in an expression statement": 'db.run("drop table users")',
    "a pattern in an assignment": [2, `const sql =\n  "drop table users"`],
    "a pattern in an import": 'import "x/TODO"',
    "a pattern in a return": [2, "function f() {\n  return `drop table ${name}`\n}"],
    "a pattern in a condition": `if (sql === "drop table x") {\n}`,
    "a pattern over several lines": "const sql = `drop\n  table users`",
    "a pattern in a comment": [2, "const x = 1\n// TODO"],
  }),
]

export const allowed: AllowCase[] = [
  ...passing(safe, {
    "a column named constructor": "rows.map((r) => r.constructor)",
    "a column, kept": "const teams = rows.map((r) => r.constructor)",
    "a column by a computed name": 'rows.map((r) => r["constructor"])',
    "a column, if it is there": 'rows.map((r) => r?.constructor ?? "none")',
    "a column among others": "const table = rows.map((r) => ({ driver: r.driver, team: r.constructor }))",
    "a column taken out by a pattern": "rows.map(({ constructor }) => constructor)",
    "a column under another name": "rows.map(({ driver, constructor: team }) => [driver, team])",
    "a column in a loop": "for (const row of rows) console.log(row.driver, row.constructor)",
    "a column taken out in a loop":
      "for (const { driver, constructor } of rows) totals[constructor] = (totals[constructor] ?? 0) + 1",
    "a column of the first row": "console.log(rows[0].constructor)",
    "a column of a row by its index": "for (let i = 0; i < rows.length; i++) names.push(rows[i].constructor)",
    "a column, grouped by": "const by = Object.groupBy(rows, (r) => r.constructor)",
    "a column, counted":
      "const counts = {}\nrows.forEach((r) => { counts[r.constructor] = (counts[r.constructor] ?? 0) + 1 })",
    "a column in a Map": "const seen = new Map()\nrows.forEach((r) => { seen.set(r.constructor, r.points) })",
    "a column without doubles": "const unique = [...new Set(rows.map((r) => r.constructor))].sort()",
    "a column, joined": 'rows.map((r) => r.constructor).filter((c) => c !== "").join(", ")',
    "a column, sorted by": "rows.toSorted((a, b) => a.constructor.localeCompare(b.constructor))",
    "a column, searched": 'rows.filter((r) => ["Ferrari", "McLaren"].includes(r.constructor))',
    "a column in a template": "rows.map((r) => `${r.driver} (${r.constructor})`)",
    "a column as text": "const text = String(row.constructor)",
    "a column as JSON": "JSON.stringify(row.constructor)",
    "a column, summed up":
      "rows.reduce((sum, r) => ({ ...sum, [r.constructor]: (sum[r.constructor] ?? 0) + r.points }), {})",
    "a column in a local variable":
      "rows.forEach((r) => {\n  const team = r.constructor\n  if (team) console.log(team.toUpperCase())\n})",
    "a column of what was awaited": "(await db.all('select * from results')).map((r) => r.constructor)",
    "a column in a function's body": "rows.map((r) => {\n  if (!r.driver) return undefined\n  return r.constructor\n})",
    "a column, chosen": 'rows.map((r) => (r.points > 0 ? r.constructor : "none"))',
    "a column, found": 'rows.find((r) => r.constructor === "Ferrari")?.driver',
    "a column with a type": "rows.map((r: Row) => r.constructor as string)",
    "a column of rows in code": 'const rows = [{ constructor: "Ferrari" }]\nrows.map((r) => r.constructor)',
    "a column of a column of rows": "result.rows.flatMap((r) => r.constructor)",
  }),
  ...passing(safe, {
    nothing: "",
    "only a comment": "// done",
    "modules that only compute": `import { join } from "node:path"\nimport { inspect } from "util"\nimport { createHash } from "crypto"`,
    "a package": `import _ from "lodash"\nconst { default: dayjs } = await import("dayjs")`,
    "a class with a constructor": "class A {\n  x: number\n  constructor(x: number) { this.x = x }\n}\nnew A(1)",
    "a subclass":
      "class A extends Array<number> {\n  constructor() { super(); this.push(1) }\n  get [Symbol.toStringTag]() { return this.constructor.name }\n}",
    "the name of a constructor": "x.constructor.name\nObject.getPrototypeOf(x)?.constructor?.name",
    "a constructor compared": "value.constructor === Object || Date !== value.constructor",
    "a static member through the constructor":
      "class A {\n  static count = 0\n  constructor() { (this.constructor as typeof A).count++ }\n}",
    "inheritance of the old kind":
      "function B() {}\nB.prototype = Object.create(A.prototype)\nB.prototype.constructor = B",
    "another of one's own class":
      "class Vector {\n  x = 1\n  copy() { return new this.constructor() }\n  all() { return [1].map(() => new this.constructor()) }\n}",
    "a switch over constructors": "switch (value.constructor) {\n  case Map: break\n  case Array: value.length\n}",
    "a variable that is called like a module": "url.search = 'x'; path.length = 0; util.deep.member = 1",
    "a member of one's own import": "import path from 'node:path'\nconst own = { path }\nown.count = 1",
    "instanceof Function": "x instanceof Function || y.constructor === Function",
    "Function as a type": "const f: Function = () => 1\nfunction g(cb: Function) { return cb as Function }",
    "eval in a string": 'console.log("never use eval or new Function")',
    "a property named eval": "const model = { eval: (x: number) => x }\nmodel.eval(2)",
    "a regular expression's exec": "const m = /a(b)/.exec(text)",
    "the gentle members of process": `process.stdout.write("hi")\nconst [s] = process.hrtime()\nprocess.memoryUsage().heapUsed\nprocess.platform`,
    "performance as a variable of an earlier cell": "performance.score = 1\nperformance[name] = 2",
    "the name of a built-in for a variable": "Event = rows[0]\nconst Map = new WeakMap()\nMap.size = 1",
    "a prototype of their own":
      "class A {}\nA.prototype.x = 1\nObject.assign(A.prototype, { y: 2 })\nObject.defineProperty(new A(), 'z', { value: 1 })",
    "built-ins read and called":
      "Object.prototype.hasOwnProperty.call(x, 'a')\nArray.prototype.slice.call(xs)\nObject.freeze({ a: 1 })\nObject.assign({}, x)",
    "data work":
      "const rows = csv.trim().split('\\n').map((line) => line.split(','))\nconst total = rows.reduce((sum, r) => sum + Number(r[1]), 0)\nconst by = Object.groupBy(rows, (r) => r[0] ?? '')\nconsole.table(by)\ntotal.toFixed(2)",
    "time, randomness and the network":
      "const id = crypto.randomUUID()\nconst at = Date.now() + Math.random()\nconst r = await fetch(url)\nawait new Promise((f) => setTimeout(f, 10))",
    "types of every kind":
      "interface P<T> { x: T }\ntype Q = P<number> & { y?: string }\nenum E { A = 1, B }\nconst q = { x: 1 } as unknown as Q satisfies Q\nfunction id<T extends object>(x: T): T { return x! }\nabstract class S { abstract area(): number }\nid<Q>(q)",
    "a template function": "const svg = html`<svg>${rows.map((r) => html`<rect height=${r.y} />`)}</svg>`",
  }),
  ...passing(noFiles, {
    "an unrelated module with a longer name": `import "fsevents"\nimport "posixpath"\nimport "os-name"`,
    "a package's submodule with a denied name": 'import x from "lodash/fs"',
    "an import of types": `import type { Stats } from "fs"\nlet s: Stats | undefined`,
    "a type that names a module": 'let fs: typeof import("fs") | undefined',
    "a known dynamic import": `const name = "path"\nconst path = await import(name)`,
    "a known dynamic import in a function": `async function f() {\n  const name = "path"\n  return import(name)\n}`,
    "a known require": 'const path = require("node:path")',
    "a function of their own called require":
      "function f(require: (x: string) => unknown) {\n  return require(name)\n}",
    "a test for require": 'const node = typeof require === "function"',
    "import.meta": "import.meta.url",
  }),
  ...passing([...noFiles, ...safe], {
    "a variable with a module's name": "const fs = new Map()\nfs.set(1, 2)",
    "module as a variable of an earlier cell": "train(module)\nmodule[name]\nmodule.weights",
    "a specifier in a string": `const text = "import fs from 'fs'"`,
  }),
  ...passing(onlyD3, {
    "what an allow list names": `import * as d3 from "d3"\nimport "d3/array"\nimport bar from "@scope/charts/bar"\nimport "./lib/a.ts"`,
  }),
  ...passing(noOpen, {
    "a function of their own": "function exec(x: number) { return x }\nexec(1)",
    "a function used before its declaration": "exec(1)\nfunction exec(x: number) { return x }",
    "a parameter": "const f = (open: () => void) => open()",
    "an imported name": `import { open } from "./doors.ts"\nopen()`,
    "a caught error": "try { go() } catch (open) { throw open }",
    "a method of an object": "door.open()\npattern.exec(text)",
    "a method definition": "class Door {\n  open() { return this.open() }\n}\nconst o = { open() {}, exec: 1 }",
    "a label": "open: for (const x of xs) break open",
    "a type of that name": "type open = string\nlet x: open = `a`",
    "a name in a string": 'const text = "open() and exec()"',
    "an alias whose uses are all in sight": "function f() {\n  const M = Math\n  return M.max(1, M.PI)\n}",
    "other members of a dotted name's object": "Math.max(1, 2)\nconst { floor } = Math\nprocess.uptime()",
    "a test for a global": `typeof process === "undefined" || typeof globalThis.open\n"open" in globalThis`,
  }),
  ...passing([...noOpen, ...safe], {
    "a member of an own process": "const process = { exit() {} }\nprocess.exit()",
    "the names in globalThis": "Object.keys(globalThis)\nfor (const name in globalThis) console.log(name)",
    "names made by computing": "globalThis[`part${i}`] = rows",
    "known members of globalThis": "globalThis.total = 1\nglobalThis.console.log(globalThis.total)",
    "window as a variable of an earlier cell": "values.slice(i, i + window)\nwindow[0]\nmean(window)",
  }),
  ...passing(noSecret, {
    "a literal with the name as a key": "const user = { secret: 1 }",
    "a variable with the name": "const secret = 1\nsecret + 1",
    "a longer member name": "user.secrets",
    "a test for a member": '"secret" in user || Object.hasOwn(user, "secret")',
  }),
  ...passing([...noSecret, ...safe], {
    "a dictionary without a prototype": "const counts = { __proto__: null }",
    "a member that is computed at run time": "rows.map((row) => row[column])",
  }),
  ...passing(noDrop, {
    "text no pattern matches": 'db.run("select drop, table from x")',
  }),
]

/** Cells by title. A number before the code is the line of the violation, if it is not the first. */
function refused(
  rules: Rule[],
  rule: string,
  cells: Record<string, string | [line: number, code: string]>,
  proof?: string,
): BlockCase[] {
  return Object.entries(cells).map(([title, cell]) => {
    const [line, code] = typeof cell === "string" ? ([1, cell] as const) : cell
    return { title, code, rules, rule, line, proof }
  })
}

function passing(rules: Rule[], cells: Record<string, string>): AllowCase[] {
  return Object.entries(cells).map(([title, code]) => ({ title, code, rules }))
}
