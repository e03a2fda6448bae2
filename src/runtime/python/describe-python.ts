// Writes the declarations of a Python runtime's names for the model. Host objects are described here, Python objects by
// the kernel.
import { types } from "node:util"
import { type Binding, boundValue, type VariableBinding } from "../bindings.ts"
import { parseVariableType } from "../declare/author-source.ts"
import { type AgentDescriptions, declarePythonAgent, describeAgentRuntimes } from "../declare/declare-agent.ts"
import { classMembers, classOf, isGlobalClass, nameOfClass } from "../declare/inspect-class.ts"
import { createInspector, isCopied, isPlain } from "../declare/inspect-value.ts"
import { splitType, splitTypeDeclaration } from "../declare/type-parts.ts"
import { any, type Member, printType } from "../declare/type-tree.ts"
import { isStandardSchema } from "../schema.ts"
import { commentText, docText } from "./doc-text.ts"
import type { KernelSupervisor } from "./kernel/kernel-supervisor.ts"
import { askKernelDeclarations } from "./kernel-declarations.ts"
import { isPyReference } from "./py-reference.ts"
import { pythonSignature, pythonType } from "./python-types.ts"
import { functionText, schemaText } from "./schema-declarations.ts"

/** Describes the given names, by default all injected names and those that the setup code or modules defined. */
export async function describePython(names: readonly string[] | undefined, kernel: KernelSupervisor): Promise<string> {
  // The names that the setup code defines are known only after it has run.
  await kernel.ensureStarted()
  const { bindings, knownNames } = kernel
  const shownNames = names ?? [...new Set([...knownNames.setup, ...bindings.keys()])].filter(isPublicName)
  const bindingOf = (name: string) => (knownNames.changed.has(name) ? undefined : bindings.get(name))
  const notes = Object.fromEntries(shownNames.flatMap((name) => hostNotes(name, bindingOf(name))))
  const ofKernel = await askKernelDeclarations(kernel, shownNames, notes)
  const { classes, lines } = await hostDeclarations(shownNames, bindingOf)
  // A class of the kernel does not replace one of the host.
  const kernelClasses = ofKernel.classes.filter(
    (text) => !classes.has(text.match(/class (\p{ID_Continue}+)/u)?.[1] ?? ""),
  )
  const declarations = lines.map((line, at) => line ?? ofKernel.names[at] ?? "")
  return [...classes.values(), ...kernelClasses, ...declarations].join("\n")
}

/** Describes the value of a binding as the host knows it, whatever the name stands for in the kernel. Returns undefined
 *  for a value that only the kernel can describe. */
export async function describeBinding(name: string, { bindings }: KernelSupervisor): Promise<string | undefined> {
  const { classes, lines } = await hostDeclarations([name], (each) => bindings.get(each))
  return lines[0] === undefined ? undefined : [...classes.values(), ...lines].join("\n")
}

/** Returns the classes that the declarations mention, and the declarations; undefined for names that the kernel
 *  describes. */
async function hostDeclarations(names: readonly string[], bindingOf: (name: string) => Binding | undefined) {
  const agents = await describeAgentRuntimes(names.flatMap((name) => bindingOf(name) ?? []))
  const types = new Set(
    names.map((name) => bindingOf(name)).map((binding) => (binding?.kind === "type" ? binding.type : undefined)),
  )
  const classes = new ClassTexts((type) => types.has(type))
  const lines = names.map((name) => hostDeclaration(name, bindingOf(name), classes, agents))
  for (const name of names) if (bindingOf(name)?.kind === "type") classes.delete(name)
  return { classes, lines }
}

function isPublicName(name: string): boolean {
  return !name.startsWith("_")
}

/** The declarations of classes by name. A base class is shown by name if it is declared itself; otherwise its members
 *  are shown with those of the class. */
class ClassTexts extends Map<string, string> {
  readonly baseName: (base: object) => string | undefined

  constructor(isDeclared: (type: object) => boolean) {
    super()
    this.baseName = (base) => (isDeclared(base) || isGlobalClass(base) ? nameOfClass(base) : undefined)
  }
}

/** The host's description of a name, which the kernel adds to its own declaration. */
function hostNotes(name: string, binding: Binding | undefined): [string, object][] {
  if (binding?.kind === "variable") {
    const type = binding.type === undefined ? undefined : pythonType(parseVariableType(binding.type, name).tree)
    return [[name, { description: binding.description, type, sample: binding.sample }]]
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
      return functionText(name, binding, classes)
    case "agent":
      return declarePythonAgent(name, binding.agent, agents)
    case "type": {
      const { description, schema = true } = binding.options
      if (isStandardSchema(binding.type)) return schemaText(name, binding.type, description, classes)
      return classText(name, binding.type, classes, { description, schema })
    }
    case "variable":
      return objectText(name, binding, classes)
  }
}

/** Describes a host object by its class, with the members of its written type or those found in the value. */
function objectText(name: string, binding: VariableBinding, classes: ClassTexts): string | undefined {
  const { value, description, type: text } = binding
  if (typeof value !== "object" || value === null) return undefined
  const comment = commentText(description)
  const written = text === undefined || isCopied(value) ? undefined : declaredMembers(text, name)
  const type = classOf(value)
  const isPlainObject = !isCopied(value) && !types.isProxy(value) && isPlain(value)
  // The kernel describes data and objects of Node's own classes, by their Python values.
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

/** Returns the members of a written type; undefined if the type has none, like `Task[]`. */
function declaredMembers(text: string, name: string): { name: string | undefined; members: Member[] } | undefined {
  const { tree, source } = parseVariableType(text, name)
  const typeName = printType(tree)
  const found = source?.typesMentionedIn(typeName, () => false).find((each) => each.name === typeName)
  const declared = found && splitTypeDeclaration(found.text)
  const parts = splitType(declared?.alias ?? tree)
  if (declared && !declared.alias) return { name: typeName, members: declared.members }
  return parts.kind === "object" ? { name: declared && typeName, members: parts.members } : undefined
}

function membersText(name: string, members: readonly Member[]): string {
  const lines = members.flatMap((member) => memberText(member) ?? [])
  return lines.length > 0 ? [`class ${name}:`, ...lines].join("\n") : `class ${name}: ...`
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

/** Returns undefined if the member's name is not valid in Python. */
function memberText({ name, form, type: given, doc, readonly, static: isStatic }: Member): string | undefined {
  const type = splitType(given)
  const signature = type.kind === "function" ? type.signature : undefined
  if (name === "[Symbol.iterator]") return "    def __iter__(self) -> Iterator[Any]: ..."
  if (!/^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(name)) return undefined
  if (!signature) {
    const notes = [...(readonly || form === "getter" ? ["read-only"] : []), ...(doc ? [doc] : [])]
    return `    ${name}: ${pythonType(type)}${commentText(notes.join(": "))}`
  }
  const isConstructor = form === "constructor"
  const shownSignature = isConstructor ? { ...signature, returns: any } : signature
  const parameters = pythonSignature(shownSignature, isStatic ? [] : ["self"])
  const head = `    def ${isConstructor ? "__init__" : name}${parameters}`
  const text = doc === undefined ? `${head}: ...` : `${head}:\n${docText(doc, "        ")}`
  return isStatic ? `    @staticmethod\n${text}` : text
}

function className(value: object): string {
  const type = classOf(value)
  return (type && nameOfClass(type)) ?? "object"
}
