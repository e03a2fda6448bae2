import { ConfigError } from "../../core/errors.ts"
import type { JsonSchema } from "../../core/json.ts"
import { type Binding, boundValue, type FunctionBinding } from "../bindings.ts"
import { type KnownAgents, lookAtAgents, pythonAgent } from "../declare/agent.ts"
import { functionSignature } from "../declare/function-head.ts"
import { inspection } from "../declare/inspect.ts"
import { classMembers, classOf, isGlobalClass, nameOfClass } from "../declare/inspect-class.ts"
import { parseSignature, parseType } from "../declare/signatures.ts"
import { any, type Member } from "../declare/type-tree.ts"
import { isTuple, toJsonSchema } from "../schema.ts"
import { unknownName } from "./names.ts"
import { isPyReference } from "./py.ts"
import { pythonSignature, pythonType, schemaParameters, schemaPythonType } from "./python-type.ts"
import type { Session } from "./session.ts"
import { PythonError } from "./told.ts"

/** Declarations for the model, as Python would write them: of everything bound or set up, or of the given names. What
 *  lives on the host is described here, what lives in Python by the kernel. */
export async function describePython(names: readonly string[] | undefined, session: Session): Promise<string> {
  // What the setup makes is known when it has run.
  await session.start()
  const { bindings, known } = session
  const wanted = names ?? [...new Set([...known.setup, ...bindings.keys()])].filter(isShown)
  const own = (name: string) => (known.changed.has(name) ? undefined : bindings.get(name))
  const about = Object.fromEntries(wanted.flatMap((name) => noteOf(name, own(name))))
  const texts = await ask(session, { names: wanted, about })
  const agents = await lookAtAgents(wanted.flatMap((name) => own(name) ?? []))
  const classes = new Map<string, string>()
  const lines = wanted.map((name, at) => onHost(name, own(name), classes, agents) ?? texts[at] ?? "")
  const declared = wanted.filter((name) => own(name)?.kind === "type")
  for (const name of declared) classes.delete(name)
  return [...classes.values(), ...lines].join("\n")
}

async function ask(session: Session, wanted: { names: readonly string[]; about: object }): Promise<string[]> {
  try {
    return (await session.ask("describe", wanted)) as string[]
  } catch (error) {
    if (!(error instanceof PythonError) || !error.names) throw error
    throw new ConfigError(unknownName(error.message, error.names))
  }
}

function isShown(name: string): boolean {
  return !name.startsWith("_")
}

/** What the host says of a name, for the kernel to tell beside what it finds. */
function noteOf(name: string, binding: Binding | undefined): [string, object][] {
  if (binding?.kind === "variable") {
    const type = binding.type === undefined ? undefined : pythonType(parseType(binding.type, name))
    return [[name, { description: binding.description, type }]]
  }
  if (binding?.kind === "type") {
    const { description, schema = true, doc = true } = binding.options
    return [[name, { description, schema, doc }]]
  }
  return []
}

function onHost(
  name: string,
  binding: Binding | undefined,
  classes: Map<string, string>,
  agents: KnownAgents,
): string | undefined {
  if (!binding || isPyReference(boundValue(binding))) return undefined
  switch (binding.kind) {
    case "function":
      return functionText(name, binding)
    case "agent":
      return pythonAgent(name, binding.agent, agents)
    case "type": {
      const { description, schema = true } = binding.options
      return classText(name, binding.type, { description, schema })
    }
    case "variable":
      return objectText(name, binding.value, binding.description, classes)
  }
}

function functionText(name: string, { call, options }: FunctionBinding): string {
  const { description, signature, input, output } = options
  const schema = input && toJsonSchema(input)
  if (signature === undefined && schema) {
    const result = output ? ` -> ${schemaPythonType(toJsonSchema(output))}` : ""
    return defined(`def ${name}(${inputParameters(schema, isTuple(input)).join(", ")})${result}`, description)
  }
  const told = signature === undefined ? functionSignature(call) : parseSignature(signature, name)
  return defined(`def ${name}${pythonSignature(told)}`, description)
}

function inputParameters(schema: JsonSchema, tuple: boolean): string[] {
  if (schema.type === "object") return schemaParameters(schema)
  const places = schema.prefixItems ?? schema.items
  if (!tuple || !Array.isArray(places)) return [`input: ${schemaPythonType(schema)}`]
  return places.map((place, at) => `arg${at + 1}: ${schemaPythonType(place)}`)
}

function objectText(
  name: string,
  value: unknown,
  description: string | undefined,
  classes: Map<string, string>,
): string | undefined {
  if (typeof value !== "object" || value === null) return undefined
  const type = classOf(value)
  // Data is described by what Python has made of it.
  if (!type || isGlobalClass(type)) return undefined
  const typeName = className(value)
  classes.set(typeName, classText(typeName, type, { instance: value }))
  return `${name}: ${typeName}${description ? `  # ${description}` : ""}`
}

interface ClassOptions {
  description?: string | undefined
  schema?: boolean | undefined
  instance?: object | undefined
}

function classText(name: string, type: object, { description, schema = true, instance }: ClassOptions): string {
  const look = inspection((found) => nameOfClass(found))
  const { members, heritage } = classMembers(type, look, nameOfClass, instance)
  const head = `class ${name}${heritage.replace(/^ extends (\w+).*$/, "($1)")}:`
  const doc = description === undefined ? [] : [docText(description, "    ")]
  const body = [...doc, ...(schema ? members.map(memberText) : [])]
  return body.length > 0 ? [head, ...body].join("\n") : `${head} ...`
}

function memberText({ name, form, type, doc, static: isStatic }: Member): string {
  const signature = type.kind === "function" ? type.signature : undefined
  if (!signature) return `    ${name}: ${pythonType(type)}${doc ? `  # ${doc.replaceAll("\n", " ")}` : ""}`
  const made = form === "constructor"
  const head = `    def ${made ? "__init__" : name}${pythonSignature(made ? { ...signature, returns: any } : signature, isStatic ? [] : ["self"])}`
  const text = doc === undefined ? `${head}: ...` : `${head}:\n${docText(doc, "        ")}`
  return isStatic ? `    @staticmethod\n${text}` : text
}

function defined(head: string, doc: string | undefined): string {
  return doc === undefined ? `${head}: ...` : `${head}:\n${docText(doc, "    ")}`
}

function docText(text: string, indent: string): string {
  return `${indent}"""${text.trim().replaceAll('"""', "'''").replaceAll("\n", `\n${indent}`)}"""`
}

function className(value: object): string {
  const type = classOf(value)
  return (type && nameOfClass(type)) ?? "object"
}
