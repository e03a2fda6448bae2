// Asks a kernel for the declarations of its names and checks them. Cells can change any code in the kernel, so a text
// may only declare the name that was asked for: it cannot contain another declaration or leave its block.
import { AgentError, ConfigError } from "../../core/errors.ts"
import { isRecord } from "../../core/object.ts"
import { PythonError } from "./cell-report.ts"
import type { KernelSupervisor } from "./kernel/kernel-supervisor.ts"
import { unknownNameMessage } from "./python-names.ts"

export interface KernelDeclarations {
  /** A declaration for each name. */
  names: string[]
  /** The declarations of the classes of their values. */
  classes: string[]
}

export async function askKernelDeclarations(
  kernel: KernelSupervisor,
  names: readonly string[],
  about: object,
): Promise<KernelDeclarations> {
  try {
    return checkDeclarations(await kernel.ask("describe", { names, about }), names)
  } catch (error) {
    if (!(error instanceof PythonError) || !error.names) throw error
    throw new ConfigError(unknownNameMessage(error.message, error.names))
  }
}

/** Returns the declarations with `name: Any` for each invalid text, without invalid classes. */
export function checkDeclarations(reply: unknown, names: readonly string[]): KernelDeclarations {
  const texts = isRecord(reply) ? reply.names : undefined
  const classes = isRecord(reply) ? reply.classes : undefined
  if (!isTexts(texts) || texts.length !== names.length || !isTexts(classes)) {
    throw new AgentError("The kernel sent an invalid description of its names.", { code: "runtime" })
  }
  return {
    names: texts.map((text, at) => (declares(text, names[at] ?? "") ? text : `${names[at]}: Any`)),
    classes: classes
      .slice(0, maxClasses)
      .filter((text) => isOneDeclaration(text, /^class [\p{ID_Start}_]\p{ID_Continue}*[(:]/u)),
  }
}

function declares(text: string, name: string): boolean {
  const [first = ""] = text.replace(/^@dataclass\n/, "").split("\n", 1)
  const heads = [`${name}: `, `def ${name}(`, `async def ${name}(`, `class ${name}(`, `class ${name}:`]
  const isImport =
    first === `import ${name}` || (/^import [\p{ID_Continue}.]+ as /u.test(first) && first.endsWith(` as ${name}`))
  return isOneDeclaration(text) && (isImport || heads.some((head) => first.startsWith(head)))
}

/** Returns true if all lines but the first belong to the declaration: they are indented, or comments. */
function isOneDeclaration(text: string, head = /^/): boolean {
  if (text.length > maxTextLength || /[^\P{Cc}\n\t]|[\u2028\u2029]/u.test(text)) return false
  const [first = "", ...others] = text.replace(/^@dataclass\n/, "").split("\n")
  return head.test(first) && others.every((line) => /^(?: {4}|# )/.test(line))
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string")
}

const maxTextLength = 20_000
const maxClasses = 20
