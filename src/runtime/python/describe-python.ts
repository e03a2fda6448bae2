import { types } from "node:util"
import { AgentError, ConfigError } from "../../core/errors.ts"
import type { JsonSchema } from "../../core/json.ts"
import { type Binding, boundValue, type FunctionBinding, type VariableBinding } from "../bindings.ts"
import { parseVariableType } from "../declare/author-source.ts"
import { declarationSchema } from "../declare/declaration-schema.ts"
import { type AgentDescriptions, declarePythonAgent, describeAgentRuntimes } from "../declare/declare-agent.ts"
import { functionSignature } from "../declare/function-signature.ts"
import { classMembers, classOf, isGlobalClass, nameOfClass } from "../declare/inspect-class.ts"
import { createInspector, isCopied, isPlain } from "../declare/inspect-value.ts"
import { parseSignature } from "../declare/parse-signature.ts"
import { splitType, splitTypeDeclaration } from "../declare/type-parts.ts"
import { any, type Member, printType } from "../declare/type-tree.ts"
import type { StandardSchema } from "../runtime.ts"
import { isStandardSchema, isTuple } from "../schema.ts"
import { PythonError } from "./cell-report.ts"
import type { KernelSupervisor } from "./kernel/kernel-supervisor.ts"
import { isPyReference } from "./py-reference.ts"
import { unknownNameMessage } from "./python-names.ts"
import {
  pythonSignature,
  pythonType,
  schemaMembers,
  schemaParameter,
  schemaParameters,
  schemaPythonType,
} from "./python-types.ts"

/** Declarations for the model, as Python would write them: of everything bound or set up, or of the given names. What
 *  lives on the host is described here, what lives in Python by the kernel. */
export async function describePython(names: readonly string[] | undefined, session: KernelSupervisor): Promise<string> {
  // What the setup makes is known when it has run.
  await session.ensureStarted()
  const { bindings, known } = session
  const wanted = names ?? [...new Set([...known.setup, ...bindings.keys()])].filter(isShown)
  const own = (name: string) => (known.changed.has(name) ? undefined : bindings.get(name))
  const about = Object.fromEntries(wanted.flatMap((name) => hostNotes(name, own(name))))
  const texts = await askKernel(session, { names: wanted, about })
  const agents = await describeAgentRuntimes(wanted.flatMap((name) => own(name) ?? []))
  const types = new Set(
    wanted.map((name) => own(name)).map((binding) => (binding?.kind === "type" ? binding.type : undefined)),
  )
  const classes = new ClassTexts((type) => types.has(type))
  const lines = wanted.map((name, at) => hostDeclaration(name, own(name), classes, agents) ?? texts[at] ?? "")
  const declared = wanted.filter((name) => own(name)?.kind === "type")
  for (const name of declared) classes.delete(name)
  return [...classes.values(), ...lines].join("\n")
}

async function askKernel(
  session: KernelSupervisor,
  wanted: { names: readonly string[]; about: object },
): Promise<string[]> {
  try {
    return checkTexts(await session.ask("describe", wanted), wanted.names.length)
  } catch (error) {
    if (!(error instanceof PythonError) || !error.names) throw error
    throw new ConfigError(unknownNameMessage(error.message, error.names))
  }
}

function isShown(name: string): boolean {
  return !name.startsWith("_")
}

/** The texts of classes by name, and the base classes that are declared by a name: the members of all others are shown with
 *  those of the class itself. */
class ClassTexts extends Map<string, string> {
  readonly baseName: (base: object) => string | undefined

  constructor(isDeclared: (type: object) => boolean) {
    super()
    this.baseName = (base) => (isDeclared(base) || isGlobalClass(base) ? nameOfClass(base) : undefined)
  }
}

/** What the host says of a name, for the kernel to tell beside what it finds. */
function hostNotes(name: string, binding: Binding | undefined): [string, object][] {
  if (binding?.kind === "variable") {
    const type = binding.type === undefined ? undefined : pythonType(parseVariableType(binding.type, name).tree)
    return [[name, { description: binding.description, type }]]
  }
  if (binding?.kind === "type") {
    const { description, schema = true, doc = true } = binding.options
    return [[name, { description, schema, doc }]]
  }
  return []
}

function hostDeclaration(
  name: string,
  binding: Binding | undefined,
  classes: ClassTexts,
  agents: AgentDescriptions,
): string | undefined {
  if (!binding || isPyReference(boundValue(binding))) return undefined
  switch (binding.kind) {
    case "function":
      return functionText(name, binding)
    case "agent":
      return declarePythonAgent(name, binding.agent, agents)
    case "type": {
      const { description, schema = true } = binding.options
      if (isStandardSchema(binding.type)) return schemaText(name, binding.type, description)
      return classText(name, binding.type, classes, { description, schema })
    }
    case "variable":
      return objectText(name, binding, classes)
  }
}

function functionText(name: string, { call, options }: FunctionBinding): string {
  const { description, signature, input, output } = options
  const result = output ? ` -> ${schemaPythonType(declarationSchema(output, "output"))}` : ""
  if (signature === undefined && input) {
    const parameters = inputParameters(declarationSchema(input, "input"), isTuple(input))
    return functionBlock(`def ${name}(${parameters.join(", ")})${result}`, description)
  }
  if (signature !== undefined) {
    return functionBlock(`def ${name}${pythonSignature(parseSignature(signature, name))}`, description)
  }
  const own = functionSignature(call)
  const shown = result ? pythonSignature({ ...own, returns: any, awaited: any }) + result : pythonSignature(own)
  return functionBlock(`def ${name}${shown}`, description)
}

function inputParameters(schema: JsonSchema, tuple: boolean): string[] {
  if (schema.type === "object") return schemaParameters(schema)
  const places = schema.prefixItems ?? schema.items
  if (!tuple || !Array.isArray(places)) return [schemaParameter("input", schema)]
  const required = typeof schema.minItems === "number" ? schema.minItems : places.length
  return places.map((place, at) => schemaParameter(`arg${at + 1}`, place, at >= required))
}

/** An object of the host: its class, with the members that its author wrote or that can be seen. */
function objectText(name: string, binding: VariableBinding, classes: ClassTexts): string | undefined {
  const { value, description, type: text } = binding
  if (typeof value !== "object" || value === null) return undefined
  const comment = description ? `  # ${description}` : ""
  const written = text === undefined || isCopied(value) ? undefined : declaredMembers(text, name)
  const type = classOf(value)
  const isPlainObject = !isCopied(value) && !types.isProxy(value) && isPlain(value)
  // Data, and objects of Node, are described by what Python has made of them.
  if (!written && !isPlainObject && (!type || isGlobalClass(type))) return undefined
  if (!written && !isPlainObject && type) {
    const typeName = className(value)
    classes.set(typeName, classText(typeName, type, classes, { instance: value }))
    return `${name}: ${typeName}${comment}`
  }
  const seen = written ? undefined : createInspector((found) => nameOfClass(found)).typeOf(value)
  const typeName = written?.name ?? name.slice(0, 1).toUpperCase() + name.slice(1)
  classes.set(typeName, membersText(typeName, written?.members ?? (seen?.kind === "object" ? seen.members : [])))
  return `${name}: ${typeName}${comment}`
}

/** The members of a type that its author wrote; undefined where it has none, as `Task[]`. */
function declaredMembers(text: string, name: string): { name: string | undefined; members: Member[] } | undefined {
  const { tree, source } = parseVariableType(text, name)
  const own = printType(tree)
  const found = source?.typesMentionedIn(own, () => false).find((each) => each.name === own)
  const declared = found && splitTypeDeclaration(found.text)
  const parts = splitType(declared?.alias ?? tree)
  if (declared && !declared.alias) return { name: own, members: declared.members }
  return parts.kind === "object" ? { name: declared && own, members: parts.members } : undefined
}

function membersText(name: string, members: readonly Member[]): string {
  const lines = members.flatMap((member) => memberText(member) ?? [])
  return lines.length > 0 ? [`class ${name}:`, ...lines].join("\n") : `class ${name}: ...`
}

/** A schema under a name: a class with the members of an object, else the type it stands for. */
function schemaText(name: string, schema: StandardSchema, description: string | undefined): string {
  const shown = declarationSchema(schema, "output")
  const members = shown.type === "object" ? schemaMembers(shown) : []
  if (members.length === 0) return `${name} = ${schemaPythonType(shown)}${description ? `  # ${description}` : ""}`
  const doc = description === undefined ? [] : [docText(description, "    ")]
  return [`class ${name}(TypedDict):`, ...doc, ...members.map((member) => `    ${member}`)].join("\n")
}

interface ClassOptions {
  description?: string | undefined
  schema?: boolean | undefined
  instance?: object | undefined
}

function classText(
  name: string,
  type: object,
  { baseName }: ClassTexts,
  { description, schema = true, instance }: ClassOptions,
): string {
  const look = createInspector((found) => nameOfClass(found))
  const { members, extendsClause: heritage } = classMembers(type, look, baseName, instance)
  const head = `class ${name}${heritage.replace(/^ extends (\w+).*$/, "($1)")}:`
  const doc = description === undefined ? [] : [docText(description, "    ")]
  const body = [...doc, ...(schema ? members.flatMap((member) => memberText(member) ?? []) : [])]
  return body.length > 0 ? [head, ...body].join("\n") : `${head} ...`
}

/** Undefined for a member that Python has no name for. */
function memberText({ name, form, type: given, doc, readonly, static: isStatic }: Member): string | undefined {
  const type = splitType(given)
  const signature = type.kind === "function" ? type.signature : undefined
  if (name === "[Symbol.iterator]") return "    def __iter__(self) -> Iterator[Any]: ..."
  if (!/^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(name)) return undefined
  if (!signature) {
    const notes = [...(readonly || form === "getter" ? ["read-only"] : []), ...(doc ? [doc.replaceAll("\n", " ")] : [])]
    return `    ${name}: ${pythonType(type)}${notes.length > 0 ? `  # ${notes.join(": ")}` : ""}`
  }
  const made = form === "constructor"
  const head = `    def ${made ? "__init__" : name}${pythonSignature(made ? { ...signature, returns: any } : signature, isStatic ? [] : ["self"])}`
  const text = doc === undefined ? `${head}: ...` : `${head}:\n${docText(doc, "        ")}`
  return isStatic ? `    @staticmethod\n${text}` : text
}

function functionBlock(head: string, doc: string | undefined): string {
  return doc === undefined ? `${head}: ...` : `${head}:\n${docText(doc, "    ")}`
}

function docText(text: string, indent: string): string {
  return `${indent}"""${text.trim().replaceAll('"""', "'''").replaceAll("\n", `\n${indent}`)}"""`
}

function className(value: object): string {
  const type = classOf(value)
  return (type && nameOfClass(type)) ?? "object"
}

/** Descriptions that a kernel wrote: one for each name, of a bounded length. */
function checkTexts(value: unknown, count: number): string[] {
  const isList = Array.isArray(value) && value.length === count && value.every((text) => typeof text === "string")
  if (!isList) throw new AgentError("The kernel sent an invalid description of its names.", { code: "runtime" })
  return value.map((text: string) => (text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text))
}

const maxTextLength = 20_000
