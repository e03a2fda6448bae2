import { types } from "node:util"
import type { Binding, FunctionBinding, VariableBinding } from "../bindings.ts"
import { isTuple } from "../schema.ts"
import { declareAgent, type KnownAgents, noAgents } from "./agent.ts"
import { type Block, type BlockWriter, openBlock } from "./block.ts"
import { declareClass, declareTypeBinding, inferredNote, noted } from "./bound-type.ts"
import { functionSignature } from "./function-head.ts"
import { guardedType } from "./guarded.ts"
import { isCopied, isPlain } from "./inspect.ts"
import { classOf, isGlobalClass, nameOfClass } from "./inspect-class.ts"
import { schemaType } from "./json-schema-type.ts"
import { declareRemoteClass, declareRemoteType } from "./remote.ts"
import { arrivingDeclaration, arrivingType, handleType } from "./remote-type.ts"
import { definedOnly, mayBeUndefined, shownSchema } from "./shown-schema.ts"
import { attempt, parseSignature } from "./signatures.ts"
import { parseVariableType, readSource, type VariableType } from "./source-types.ts"
import {
  any,
  jsDoc,
  type Parameter,
  printSignature,
  printType,
  promised,
  type Signature,
  type TypeTree,
} from "./type-tree.ts"

export { impliedTypes } from "./block.ts"
export { describeType } from "./inspect.ts"

/** What the model sees of the bindings: one block of TypeScript declarations, in their order, the same text for the same
 *  bindings. Types and docs, never values; nothing of the values is run. Each type comes from the first of these that
 *  there is: its author's text, a schema, the author's source, a look at the running value (marked `// inferred`).
 *  Where the bindings are only some, `among` is all of them: their types keep their names and are not declared again.
 *  `remote`: what has behaviour is in another process than the cells, and each member of it takes an `await`. `agents`:
 *  what is in the runtimes of those among the bindings.
 *  Throws a `ConfigError` for text that is not TypeScript. A schema that has no type text is `unknown`. */
export function declare(
  bindings: ReadonlyMap<string, Binding>,
  among = bindings,
  remote = false,
  agents: KnownAgents = noAgents,
): string {
  const block = openBlock(bindings, among, remote ? remoteWriter : { declareClass })
  for (const [name, binding] of bindings) {
    const text = declaration(name, binding, block, remote, agents)
    if (text) block.lines.push(text)
  }
  return [...(block.hasHandles ? [handleNote] : []), ...block.lines].join("\n")
}

const remoteWriter: BlockWriter = { declareClass: declareRemoteClass, declareText: arrivingDeclaration }

const handleNote =
  "// Objects of the host: each member takes an `await`. Data is read as a copy; assign it to the member to change it."

function declaration(name: string, binding: Binding, block: Block, remote: boolean, agents: KnownAgents): string {
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

/** A variable whose value is data may be assigned to; an object with behaviour of its own is kept. */
function declareVariable(name: string, binding: VariableBinding, block: Block, remote: boolean): string {
  const { value, description, type, guard } = binding
  const data = !guard && (remote ? isCopied(value) : isData(value))
  const seen = (told: TypeTree) => {
    if (remote) return data ? arrivingType(told, block) : handleType(told, block)
    return guard ? guardedType(told, value, guard, block) : told
  }
  const declared = `${jsDoc(description)}declare ${data ? "let" : "const"} ${name}: `
  if (type !== undefined) {
    block.mention(type)
    const { tree, source } = remembered(variableTypes, binding, () => parseVariableType(type, name))
    if (source) block.mentionFrom(source, printType(tree), data ? undefined : printType(tree))
    return declared + printType(seen(tree))
  }
  // An empty variable is there to be filled.
  const found = value === null || value === undefined ? any : block.look().typeOf(value)
  const isNamed = printType(found) === nameOfInstance(value, block)
  const text = printType(seen(found))
  return declared + (isNamed ? text : noted(text))
}

function declareFunction(name: string, { call, options }: FunctionBinding, block: Block, remote: boolean): string {
  const { signatures, doc, inferred } = signaturesOf(name, call, options, block)
  const lines = signatures.map((signature) => {
    const given = remote ? { ...signature, returns: arrivingType(signature.returns, block) } : signature
    const returns = options.sync ? signature.returns : promised(given)
    return `declare function ${name}${printSignature({ ...signature, returns }, ": ")}`
  })
  return jsDoc(doc) + lines.join("\n") + (inferred ? inferredNote : "")
}

interface Told {
  signatures: Signature[]
  doc: string | undefined
  inferred?: boolean
}

function signaturesOf(name: string, call: object, options: FunctionBinding["options"], block: Block): Told {
  const { description, signature, input, output, source: text } = options
  if (signature !== undefined) {
    block.mention(signature)
    return { signatures: [remembered(signatures, options, () => parseSignature(signature, name))], doc: description }
  }
  const source = text === undefined ? undefined : readSource(text)
  const written = source?.functionNamed([nameOfClass(call) ?? name, name])
  const [own = functionSignature(call)] = written?.signatures ?? []
  const doc = description ?? written?.doc
  if (input || output) {
    const { parameters, docs } = input
      ? schemaParameters(name, own, input, block)
      : { parameters: own.parameters, docs: [] }
    const returns = output
      ? schemaType(shownSchema(output, "output"), block, `${capitalised(name)}Output`)
      : own.returns
    const shown: Signature = { parameters, returns, awaited: output ? undefined : own.awaited }
    return { signatures: [shown], doc: [doc, ...docs].filter((line) => line).join("\n"), inferred: !input && !written }
  }
  if (!source || !written) return { signatures: [own], doc, inferred: true }
  for (const each of written.signatures) block.mentionFrom(source, printSignature(each, ": "))
  return { signatures: written.signatures, doc }
}

/** The parameters a schema describes: one, or each of a tuple, under the names the function itself has for them. */
function schemaParameters(
  name: string,
  own: Signature,
  input: NonNullable<FunctionBinding["options"]["input"]>,
  block: Block,
): { parameters: Parameter[]; docs: string[] } {
  const schema = shownSchema(input, "input")
  const optional = mayBeUndefined(schema)
  const type = schemaType(definedOnly(schema), block, `${capitalised(name)}Input`)
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
  const places = schema.prefixItems ?? schema.items
  const docs = (Array.isArray(places) ? places : []).flatMap((place, index) => {
    const described =
      typeof place === "object" && place !== null && "description" in place ? place.description : undefined
    return typeof described === "string" ? [`@param ${parameters[index]?.name} ${described}`] : []
  })
  const rest = type.rest && { name: "rest", type: { kind: "array", element: type.rest } as const, rest: true }
  return { parameters: rest ? [...parameters, rest] : parameters, docs }
}

function isData(value: unknown): boolean {
  if (typeof value === "function") return false
  if (typeof value !== "object" || value === null) return true
  if (types.isProxy(value) || types.isPromise(value)) return false
  const type = classOf(value)
  if (!isPlain(value)) return type !== undefined && isGlobalClass(type)
  // A module that is still loading cannot be looked at.
  const properties = attempt(() =>
    Object.keys(value)
      .slice(0, 64)
      .map((key) => Object.getOwnPropertyDescriptor(value, key)),
  )
  return !properties?.some((property) => typeof property?.value === "function")
}

/** The name of the class of an instance, which is known and not inferred. */
function nameOfInstance(value: unknown, block: Block): string | undefined {
  const type = typeof value === "object" && value !== null ? classOf(value) : undefined
  return type && block.nameOf(type)
}

function capitalised(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1)
}

// An author's text is parsed once for as long as the binding lives.
const signatures = new WeakMap<object, Signature>()
const variableTypes = new WeakMap<object, VariableType>()

function remembered<T>(known: WeakMap<object, T>, key: object, make: () => T): T {
  const value = known.get(key) ?? make()
  known.set(key, value)
  return value
}
