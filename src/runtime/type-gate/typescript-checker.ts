// Runs the TypeScript 7 compiler on cells. The only file that uses its unstable API.
import { MissingPackageError } from "../../core/errors.ts"
import { importOptionalPackage } from "../../core/optional-package.ts"
import { ambientDeclarations } from "./ambient-declarations.ts"

export interface TypeChecker {
  /** Checks a cell, which may import the names of `host` from "./host". Throws if the compiler process has ended. */
  check(cell: string, host: string): CheckResult
  /** Ends the compiler process. The next check starts another one. */
  close(): void
}

export interface CheckResult {
  diagnostics: Diagnostic[]
  /** The types at offsets in the cell, as text; undefined if there is none. Valid until the next check. */
  typesAt(offsets: readonly number[]): (string | undefined)[]
  /** The type of the expression or pattern with exactly this range, as text. Valid until the next check. */
  typeOf(range: Range): string | undefined
  /** The parameter types of the function that the call with this range calls. Valid until the next check. */
  parameterTypesOf(call: Range): string[] | undefined
}

export interface Range {
  start: number
  end: number
}

export interface Diagnostic {
  code: number
  message: string
  /** Offsets in the cell. */
  start: number
  end: number
  /** True if TypeScript suggests that an `await` is missing. */
  suggestsAwait: boolean
  /** The codes of the messages that explain the diagnostic. */
  causes: number[]
}

/** Returns the compiler process that all runtimes of this program share. It neither keeps the program alive nor
 *  outlives it. */
export function sharedTypeChecker(): Promise<TypeChecker> {
  sharedChecker ??= importCompilerApi().then(createChecker)
  // Forget a failure: the package may be installed later.
  sharedChecker.catch(() => {
    sharedChecker = undefined
  })
  return sharedChecker
}

let sharedChecker: Promise<TypeChecker> | undefined

// The parts of `typescript/unstable/sync` that are used.
interface Api {
  /** Not part of the API. */
  client?: { channel?: { child?: { kill(signal: string): unknown } } }
  updateSnapshot(change: { openProjects?: string[]; fileChanges?: { changed: string[] } | undefined }): Snapshot
  close(): void
}

interface Snapshot {
  getProject(config: string): Project | undefined
  dispose(): void
}

interface Project {
  program: {
    getSemanticDiagnostics(file: string): readonly ApiDiagnostic[]
    getSourceFile(file: string): ApiNode | undefined
  }
  checker: {
    getTypeAtPosition(file: string, positions: readonly number[]): (object | undefined)[]
    getTypeAtLocation(node: ApiNode): object | undefined
    getResolvedSignature(node: ApiNode): { getParameters(): readonly object[] } | undefined
    getTypeOfSymbol(symbol: object): object | undefined
    typeToString(type: object, enclosing: undefined, flags: number): string
  }
}

interface ApiNode {
  end: number
  getStart(file: ApiNode): number
  forEachChild(visit: (node: ApiNode) => void): void
}

interface ApiDiagnostic {
  code: number
  text: string
  pos: number
  end: number
  messageChain?: readonly ApiDiagnostic[]
  relatedInformation?: readonly ApiDiagnostic[]
}

type ApiConstructor = new (options: { cwd: string; fs: VirtualFiles }) => Api

/** null and false mean that a file does not exist; undefined lets the compiler read the real file, for its library. */
interface VirtualFiles {
  readFile(path: string): string | null | undefined
  fileExists(path: string): boolean | undefined
  directoryExists(path: string): boolean
  getAccessibleEntries(path: string): { files: string[]; directories: string[] }
  realpath(path: string): string
}

async function importCompilerApi(): Promise<ApiConstructor> {
  try {
    const { API } = await importOptionalPackage("typescript/unstable/sync", "the type gate")
    // The package is optional, so its types are not available.
    if (typeof API === "function") return API as ApiConstructor
    throw new TypeError("typescript/unstable/sync has no API.")
  } catch (cause) {
    const found = await installedVersion()
    const problem =
      found === undefined
        ? 'The package "typescript", version 7, is needed for the type gate.'
        : `The type gate needs TypeScript 7, and TypeScript ${found} is installed.`
    throw new MissingPackageError(`${problem} Install it: npm install typescript@7.0.2, or leave out typeGate.`, {
      cause,
      details: { package: "typescript" },
    })
  }
}

async function installedVersion(): Promise<unknown> {
  try {
    const { version, default: whole } = await importOptionalPackage("typescript", "the type gate")
    const inDefault = typeof whole === "object" && whole !== null && "version" in whole ? whole.version : undefined
    return version ?? inDefault
  } catch {
    return undefined
  }
}

function createChecker(Api: ApiConstructor): TypeChecker {
  const files = new Map([
    [configFile, JSON.stringify({ compilerOptions, files: [ambientFile, hostFile, cellFile] })],
    [ambientFile, ambientDeclarations()],
  ])
  let api: Api | undefined
  let snapshot: Snapshot | undefined

  const write = (path: string, text: string): string[] => {
    if (files.get(path) === text) return []
    files.set(path, text)
    return [path]
  }

  const refresh = (changed: string[]): Project => {
    api ??= new Api({ cwd: root, fs: createVirtualFiles(files) })
    const next = api.updateSnapshot(snapshot ? { fileChanges: { changed } } : { openProjects: [configFile] })
    snapshot?.dispose()
    snapshot = next
    const project = next.getProject(configFile)
    if (!project) throw new Error("The TypeScript server does not know its own project.")
    return project
  }

  const checker: TypeChecker = {
    check(cell, host) {
      try {
        const { program, checker: types } = refresh([...write(hostFile, host), ...write(cellFile, cell)])
        const diagnostics = program.getSemanticDiagnostics(cellFile).map(diagnosticOf)
        const textOf = (type: object | undefined) => type && types.typeToString(type, undefined, noTruncation)
        let nodes: Map<string, ApiNode> | undefined
        const nodeAt = ({ start, end }: Range) => {
          nodes ??= nodesByRange(program.getSourceFile(cellFile))
          return nodes.get(`${start}:${end}`)
        }
        return {
          diagnostics,
          typesAt: (offsets) => types.getTypeAtPosition(cellFile, offsets).map(textOf),
          typeOf(range) {
            const node = nodeAt(range)
            return node && textOf(types.getTypeAtLocation(node))
          },
          parameterTypesOf(call) {
            const node = nodeAt(call)
            const signature = node && types.getResolvedSignature(node)
            return signature?.getParameters().map((each) => textOf(types.getTypeOfSymbol(each)) ?? "any")
          },
        }
      } catch (error) {
        checker.close()
        throw error
      }
    },
    close() {
      try {
        snapshot?.dispose()
      } catch {
        // The process has already ended.
      }
      // Kill the process first: a normal close may print errors to the program's stderr.
      api?.client?.channel?.child?.kill("SIGKILL")
      api?.close()
      api = snapshot = undefined
    },
  }
  process.prependOnceListener("exit", checker.close)
  return checker
}

/** Returns the innermost node of each range. */
function nodesByRange(file: ApiNode | undefined): Map<string, ApiNode> {
  const nodes = new Map<string, ApiNode>()
  const visit = (node: ApiNode) => {
    if (file) nodes.set(`${node.getStart(file)}:${node.end}`, node)
    node.forEachChild(visit)
  }
  if (file) visit(file)
  return nodes
}

function diagnosticOf({ code, text, pos, end, messageChain = [], relatedInformation = [] }: ApiDiagnostic): Diagnostic {
  const message = [text, ...messageChain.map((more) => more.text)].join(" ")
  const awaits = relatedInformation.some((related) => related.code === missingAwaitCode)
  return { code, message, start: pos, end, suggestsAwait: awaits, causes: messageChain.map((more) => more.code) }
}

const missingAwaitCode = 2773
const root = "/karst"
const configFile = `${root}/tsconfig.json`
const ambientFile = `${root}/ambient.d.ts`
const hostFile = `${root}/host.d.ts`
const cellFile = `${root}/cell.ts`
const noTruncation = 1

// The most lenient settings, so that doubtful code is not reported.
const compilerOptions = {
  target: "esnext",
  lib: ["esnext"],
  module: "esnext",
  moduleResolution: "bundler",
  moduleDetection: "force",
  types: [],
  strict: false,
  noEmit: true,
  skipLibCheck: true,
  noErrorTruncation: true,
}

function createVirtualFiles(files: ReadonlyMap<string, string>): VirtualFiles {
  const isOurs = (path: string) => path.startsWith(`${root}/`)
  return {
    readFile: (path) => (isOurs(path) ? (files.get(path) ?? null) : undefined),
    fileExists: (path) => (isOurs(path) ? files.has(path) : undefined),
    directoryExists: (path) => path === root,
    getAccessibleEntries: () => ({ files: [], directories: [] }),
    realpath: (path) => path,
  }
}
