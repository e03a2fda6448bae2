// Writes the TypeScript declarations that show the model what is bound in a runtime.
import { types } from "node:util"
import { attempt } from "../../core/attempt.ts"
import type { Binding, FunctionBinding, VariableBinding } from "../bindings.ts"
import { parseCell } from "../compiler/parse-cell.ts"
import { isTuple } from "../schema.ts"
import { parseVariableType, readAuthorSource, type VariableType } from "./author-source.ts"
import { createDeclarationBlock, type DeclarationBlock, type TypeWriter } from "./declaration-block.ts"
import { acceptsUndefined, declarationSchema, withoutUndefinedMark } from "./declaration-schema.ts"
import { type AgentDescriptions, declareAgent, noAgentDescriptions } from "./declare-agent.ts"
import { declareClass, declareTypeBinding, inferredNote, markInferred } from "./declare-type-binding.ts"
import { inferredSignature } from "./function-signature.ts"
import { guardedType } from "./guarded-type.ts"
import { classOf, isGlobalClass, nameOfClass } from "./inspect-class.ts"
import { isCopied, isPlain } from "./inspect-value.ts"
import { schemaType } from "./json-schema-type.ts"
import { parseSignature } from "./parse-signature.ts"
import { declareRemoteClass, declareRemoteType } from "./remote-class.ts"
import { handleType, receivedDeclaration, receivedType } from "./remote-type.ts"
import { createSourceLookup, noSourceLookup, type SourceLookup } from "./source/source-lookup.ts"
import { createTableCounter, type TableCounter } from "./table-counts.ts"
import { isReported, isTable, sampleLines } from "./table-sample.ts"
import type { Parameter, Signature, TypeTree } from "./type-tree.ts"
import { addNote, any, capitalize, jsDoc, printSignature, printType, promisedResult, rowsNote } from "./type-tree.ts"

/** Returns one block of TypeScript declarations for the bindings, in their order. It contains types and docs, and
 *  values only as the sample of a variable. It runs no code of the values, except `inspect.custom` in a sample. The
 *  same bindings always produce the same text. Each type comes from the first available source: the author's type text,
 *  a schema, the author's source code, the file that declares the running function or class, or inspection of the live
 *  value (marked `// inferred`). If `bindings` is a subset, `allBindings` is the full set: its types keep their names
 *  and are not declared again. With `remote`, objects with behaviour live in another process and each member takes an
 *  `await`. `agents` describes the runtimes of agents among the bindings. Throws a `ConfigError` for text that is not
 *  TypeScript. A schema without a TypeScript equivalent is shown as `unknown`. */
export function declareBindings(
  bindings: ReadonlyMap<string, Binding>,
  allBindings = bindings,
  remote = false,
  agents: AgentDescriptions = noAgentDescriptions,
  lookup: SourceLookup = createSourceLookup(),
): string {
  const tables = createTableCounter()
  for (let pass = 1; ; pass++) {
    const text = writeDeclarations(bindings, allBindings, remote, agents, lookup, tables)
    // The functions that the text shows are located together and the text is written again, with their types. These
    // may show other classes.
    if (pass < maxPasses && lookup.locateMissing()) continue
    return lookup === noSourceLookup || isTypeScript(text)
      ? text
      : writeDeclarations(bindings, allBindings, remote, agents, noSourceLookup, tables)
  }
}

const maxPasses = 4

/** Returns true if the text parses. Types from files are only shown if they are valid together. */
function isTypeScript(text: string): boolean {
  if (validTexts.has(text)) return true
  if (attempt(() => parseCell(text)) === undefined) return false
  validTexts.add(text)
  const [oldest] = validTexts
  if (validTexts.size > maxValidTexts && oldest !== undefined) validTexts.delete(oldest)
  return true
}

const validTexts = new Set<string>()
const maxValidTexts = 16

function writeDeclarations(
  bindings: ReadonlyMap<string, Binding>,
  allBindings: ReadonlyMap<string, Binding>,
  remote: boolean,
  agents: AgentDescriptions,
  lookup: SourceLookup,
  tables: TableCounter,
): string {
  const block = createDeclarationBlock(bindings, allBindings, remote ? remoteWriter : { declareClass }, lookup, tables)
  for (const [name, binding] of bindings) {
    const text = declareBinding(name, binding, block, remote, agents)
    if (text) block.lines.push(text)
  }
  return [...(block.hasHandles ? [handleNote] : []), ...block.lines].join("\n")
}

const remoteWriter: TypeWriter = { declareClass: declareRemoteClass, declareSourceType: receivedDeclaration }

const handleNote =
  "// Objects of the host: each member takes an `await`. Data is read as a copy; assign it to the member to change it."

function declareBinding(
  name: string,
  binding: Binding,
  block: DeclarationBlock,
  remote: boolean,
  agents: AgentDescriptions,
): string {
  switch (binding.kind) {
    case "function":
      return declareFunction(name, binding, block, remote)
    case "variable":
      return declareVariable(name, binding, block, remote)
    case "type":
      return (remote && declareRemoteType(name, binding, block)) || declareTypeBinding(name, binding, block)
    case "agent":
      return declareAgent(name, binding, block, agents)
  }
}

/** Declares data with `let`, because cells may assign to it, and an object with behaviour with `const`. */
function declareVariable(name: string, binding: VariableBinding, block: DeclarationBlock, remote: boolean): string {
  const { value, description, type, guard, constant = false } = binding
  const isData = !guard && (remote ? isCopied(value) : isAssignableData(value))
  const shownType = (written: TypeTree) => {
    if (remote) return isData ? receivedType(written, block) : handleType(written, block)
    return guard ? guardedType(written, value, guard, block) : written
  }
  const declared = `${jsDoc(description)}declare ${isData && !constant ? "let" : "const"} ${name}: `
  if (type !== undefined) {
    block.declareMentionedClasses(type)
    const { tree, source } = cached(parsedVariableTypes, binding, () => parseVariableType(type, name))
    if (source) block.declareMentionedTypes(source, printType(tree), isData ? undefined : printType(tree))
    return declared + noteRows(printType(shownType(tree)), binding) + sampleLines(name, binding)
  }
  // An empty variable has type `any`, because a cell is expected to fill it.
  const found = value === null || value === undefined ? any : block.inspector().typeOf(value)
  const isNamed = printType(found) === classNameOfInstance(value, block)
  const text = printType(shownType(found))
  const rows = found.kind === "array" ? found.rows : undefined
  return declared + (isNamed ? text : markInferred(text, rows)) + sampleLines(name, binding)
}

/** Adds the number of rows to the written type of a table, or what a child reported about a table. */
function noteRows(text: string, binding: VariableBinding): string {
  const { value } = binding
  if (isReported(binding)) return addNote(text, binding.reported.note ?? "")
  return isTable(value) ? `${text} // ${rowsNote({ total: value.length, counted: value.length })}` : text
}

function declareFunction(
  name: string,
  { call, options }: FunctionBinding,
  block: DeclarationBlock,
  remote: boolean,
): string {
  const { signatures, doc, inferred } = functionSignatures(name, call, options, block)
  const lines = signatures.map((signature) => {
    const received = remote ? { ...signature, returns: receivedType(signature.returns, block) } : signature
    const returns = options.sync ? signature.returns : promisedResult(received)
    return `declare function ${name}${printSignature({ ...signature, returns }, ": ")}`
  })
  return jsDoc(doc) + lines.join("\n") + (inferred ? inferredNote : "")
}

function functionSignatures(
  name: string,
  call: object,
  options: FunctionBinding["options"],
  block: DeclarationBlock,
): { signatures: Signature[]; doc: string | undefined; inferred?: boolean } {
  const { description, signature, input, output, source: text } = options
  if (signature !== undefined) {
    block.declareMentionedClasses(signature)
    return { signatures: [cached(parsedSignatures, options, () => parseSignature(signature, name))], doc: description }
  }
  const isUndeclared = text === undefined && !input && !output && !types.isProxy(call)
  const located = isUndeclared ? block.sources.functionSource(call) : undefined
  if (located) return { signatures: located.signatures, doc: description ?? located.doc }
  const source = text === undefined ? undefined : readAuthorSource(text)
  const written = source?.functionNamed([nameOfClass(call) ?? name, name])
  const [own = types.isProxy(call) ? inferredSignature(call) : block.sources.inferredSignature(call)] =
    written?.signatures ?? []
  const doc = description ?? written?.doc ?? (isUndeclared ? block.sources.docOf(call) : undefined)
  if (input || output) {
    const { parameters, docs } = input
      ? schemaParameters(name, own, input, block)
      : { parameters: own.parameters, docs: [] }
    const returns = output
      ? schemaType(declarationSchema(output, "output"), block, `${capitalize(name)}Output`)
      : own.returns
    const shown: Signature = { parameters, returns, awaited: output ? undefined : own.awaited }
    return { signatures: [shown], doc: [doc, ...docs].filter((line) => line).join("\n"), inferred: !input && !written }
  }
  if (!source || !written) return { signatures: [own], doc, inferred: true }
  for (const each of written.signatures) block.declareMentionedTypes(source, printSignature(each, ": "))
  return { signatures: written.signatures, doc }
}

/** Returns the parameters a schema describes: one, or one per place of a tuple, named as in the function itself. */
function schemaParameters(
  name: string,
  own: Signature,
  input: NonNullable<FunctionBinding["options"]["input"]>,
  block: DeclarationBlock,
): { parameters: Parameter[]; docs: string[] } {
  const schema = declarationSchema(input, "input")
  const optional = acceptsUndefined(schema)
  const type = schemaType(withoutUndefinedMark(schema), block, `${capitalize(name)}Input`)
  const nameAt = (index: number, otherwise: string) => {
    const parameter = own.parameters[index]
    return parameter && !parameter.rest ? parameter.name : otherwise
  }
  if (!isTuple(input) || type.kind !== "tuple") {
    return { parameters: [{ name: nameAt(0, "input"), type, optional }], docs: [] }
  }
  const parameters = type.parts.map((part, index): Parameter => {
    return { name: nameAt(index, `arg${index + 1}`), type: part, optional: index >= type.required }
  })
  const elementSchemas = schema.prefixItems ?? schema.items
  const docs = (Array.isArray(elementSchemas) ? elementSchemas : []).flatMap((element, index) => {
    const described =
      typeof element === "object" && element !== null && "description" in element ? element.description : undefined
    return typeof described === "string" ? [`@param ${parameters[index]?.name} ${described}`] : []
  })
  const rest = type.rest && { name: "rest", type: { kind: "array", element: type.rest } as const, rest: true }
  return { parameters: rest ? [...parameters, rest] : parameters, docs }
}

function isAssignableData(value: unknown): boolean {
  if (typeof value === "function") return false
  if (typeof value !== "object" || value === null) return true
  if (types.isProxy(value) || types.isPromise(value)) return false
  const type = classOf(value)
  if (!isPlain(value)) return type !== undefined && isGlobalClass(type)
  // Reading the keys of a module that is still loading throws.
  const properties = attempt(() =>
    Object.keys(value)
      .slice(0, 64)
      .map((key) => Object.getOwnPropertyDescriptor(value, key)),
  )
  return !properties?.some((property) => typeof property?.value === "function")
}

function classNameOfInstance(value: unknown, block: DeclarationBlock): string | undefined {
  const type = typeof value === "object" && value !== null ? classOf(value) : undefined
  return type && block.referToClass(type)
}

// The author's text is parsed once per binding.
const parsedSignatures = new WeakMap<object, Signature>()
const parsedVariableTypes = new WeakMap<object, VariableType>()

function cached<T>(known: WeakMap<object, T>, key: object, make: () => T): T {
  const value = known.get(key) ?? make()
  known.set(key, value)
  return value
}
