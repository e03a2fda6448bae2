import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { spawn } from "../../../core/child/child-process.ts"
import { ConfigError } from "../../../core/errors.ts"
import { positionAt } from "../../compiler/text-positions.ts"
import {
  attributeRule,
  findForbiddenText,
  functionRule,
  importRule,
  type Rule,
  type RuleData,
  type RuleViolation,
} from "../../rules/rules.ts"

/** Checks Python cells in a process of its own, which generated code never reaches. */
export interface PythonChecker extends AsyncDisposable {
  /** What the rules find, in the order of the source; nothing found: the cell may run. Never rejects: what cannot be
   *  checked, in time or at all, is a violation. IPython's own syntax (`!ls`, `%magic`, `x?`) cannot be. */
  check(code: string): Promise<RuleViolation[]>
  /** Ends the process. Twice is fine. */
  close(): Promise<void>
}

export interface PythonCheckerOptions {
  /** The interpreter, Python 3.10 or newer. */
  python: string
  /** A rule that only knows TypeScript's syntax tree is a `ConfigError`. */
  rules: readonly Rule[]
  /** Default 10 s. */
  timeoutMs?: number | undefined
}

/** The process starts with the first cell that needs it, and again after it died. */
export function createPythonChecker({ python, rules, timeoutMs = 10_000 }: PythonCheckerOptions): PythonChecker {
  const all = pythonRuleData(rules)
  const patterns = all.flatMap((data) => (data.kind === "regex" ? [data] : []))
  const onTree = all.filter(({ kind }) => kind !== "regex")
  let checking: CheckerProcess | undefined
  let closed = false

  const ask = async (code: string): Promise<RuleViolation[]> => {
    if (closed) return [uncheckableViolation("the runtime is closed")]
    if (!checking || checking.ended) checking = startCheckerProcess(python)
    try {
      return await checking.ask({ code, rules: onTree }, timeoutMs)
    } catch (error) {
      return [uncheckableViolation(error instanceof Error ? error.message : String(error))]
    }
  }

  const checker: PythonChecker = {
    async check(code) {
      if (all.length === 0) return []
      const inText = patterns.flatMap((data) =>
        [...findForbiddenText(code, data.patterns, data)].map(({ offset, message }): RuleViolation => {
          return { rule: "regex", message, ...positionAt(code, offset) }
        }),
      )
      const found = [...inText, ...(await ask(code))]
      return found.sort((one, other) => one.line - other.line || one.column - other.column)
    },
    async close() {
      closed = true
      await checking?.end()
    },
    [Symbol.asyncDispose]: () => checker.close(),
  }
  return checker
}

/** The rules as data. A `ConfigError` for one that only knows TypeScript's syntax tree. */
export function pythonRuleData(rules: readonly Rule[]): RuleData[] {
  return rules.map(({ name, data }) => {
    if (data) return data
    throw new ConfigError(
      `The rule "${name}" reads TypeScript's syntax tree and cannot check Python. Use importRule, functionRule, attributeRule, regexRule or safePythonRules().`,
    )
  })
}

/** Rules for Python that a model wrote: no processes, files, servers or threads, no code made of text, no way from an
 *  object to the interpreter behind it. Computing, the network as a client and packages stay allowed. They keep honest
 *  code from harm; they do not hold code that wants out: isolation does. */
export function safePythonRules(): Rule[] {
  return [
    importRule(harmfulModules, { description: "it reaches beyond this cell; use what you were given" }),
    functionRule(textEvaluators, { description: "code made of text cannot be checked" }),
    functionRule(["__loader__", "__spec__", "types.FunctionType", "types.CodeType"], {
      description: "it leads into the interpreter itself",
    }),
    functionRule(["pandas.read_pickle", "pandas.io.pickle.read_pickle"], {
      description: "what is unpickled may run any code",
    }),
    functionRule(fileFunctions, {
      description: "files are out of bounds; use what you were given",
    }),
    functionRule(["input", "breakpoint", "exit", "quit", "help", "get_ipython"], {
      description: "it belongs to the program around this cell",
    }),
    functionRule(["asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "asyncio.start_server"], {
      description: "it reaches beyond this cell; use what you were given",
    }),
    attributeRule(interpreterAttributes, { description: "it leads into the interpreter itself" }),
  ]
}

const textEvaluators =
  `eval exec compile timeit.timeit timeit.repeat timeit.Timer cProfile.run cProfile.runctx profile.run
  profile.runctx typing.get_type_hints typing.ForwardRef`.split(/\s+/)

const fileFunctions =
  `open io.open io.open_code io.FileIO codecs.open tarfile.bltn_open tarfile.open gzip.open bz2.open lzma.open
  logging.FileHandler logging.handlers`.split(/\s+/)

const harmfulModules =
  `os sys subprocess shutil pathlib glob fileinput tempfile posix nt pwd grp pty tty fcntl resource mmap
  ctypes cffi _ctypes multiprocessing threading _thread concurrent signal socket _socket socketserver http.server
  xmlrpc.server importlib imp pkgutil runpy zipimport builtins code codeop gc inspect atexit faulthandler pickle _pickle
  cloudpickle dill joblib marshal shelve dbm sqlite3 site sysconfig venv ensurepip pip setuptools distutils webbrowser
  IPython ipykernel jupyter_client zmq pdb bdb trace readline sh pexpect plumbum invoke fabric psutil karst_kernel
  _posixsubprocess _io _pyio _imp _frozen_importlib _frozen_importlib_external linecache pydoc doctest`.split(/\s+/)

const interpreterAttributes =
  `__subclasses__ __bases__ __base__ __mro__ mro __globals__ __builtins__ __code__ __closure__
  __self__ __func__ __wrapped__ __loader__ __spec__ __import__ __reduce__ __reduce_ex__ __getattribute__ f_globals
  f_builtins f_locals f_back f_code tb_frame gi_frame cr_frame ag_frame gi_code cr_code`.split(/\s+/)

function uncheckableViolation(reason: string): RuleViolation {
  return { rule: "check", message: `the cell could not be checked, so nothing is run: ${reason}`, line: 1, column: 1 }
}

/** One process and the questions it has not answered yet. */
interface CheckerProcess {
  readonly ended: boolean
  ask(question: { code: string; rules: RuleData[] }, timeoutMs: number): Promise<RuleViolation[]>
  end(): Promise<void>
}

const checkerProgram = fileURLToPath(new URL("../assets/karst_rules", import.meta.url))

function startCheckerProcess(python: string): CheckerProcess {
  // Nothing of the user's site or environment takes part: -s -E -S; -B writes no bytecode beside our files.
  const child = spawn(python, ["-BsES", checkerProgram], { stdio: ["pipe", "pipe", "pipe"] })
  const waiting = new Map<number, PromiseWithResolvers<RuleViolation[]>>()
  let asked = 0
  let trouble = ""
  let ended = false
  const over = new Promise<void>((resolve) => {
    const end = (reason: string) => {
      ended = true
      for (const { reject } of waiting.values()) reject(new Error(reason))
      waiting.clear()
      resolve()
    }
    child.once("error", (error) => end(`${python}: ${error.message}`))
    child.once("close", () => end(trouble.trim().split("\n").at(-1) || "the checker ended"))
  })
  child.stderr.on("data", (text) => {
    trouble = `${trouble}${text}`.slice(-2_000)
  })
  // A process that dies while it is written to says so by its end.
  child.stdin.on("error", () => {})
  createInterface({ input: child.stdout }).on("line", (line) => settleAnswer(line, waiting))
  setKeepsProgramAlive(child, false)

  return {
    get ended() {
      return ended
    },
    async ask(question, timeoutMs) {
      const id = ++asked
      const pending = Promise.withResolvers<RuleViolation[]>()
      waiting.set(id, pending)
      setKeepsProgramAlive(child, true)
      const timer = setTimeout(() => {
        trouble = `it took longer than ${timeoutMs} ms`
        child.kill("SIGKILL")
      }, timeoutMs)
      child.stdin.write(`${JSON.stringify({ id, ...question })}\n`)
      try {
        return await pending.promise
      } finally {
        clearTimeout(timer)
        waiting.delete(id)
        if (waiting.size === 0) setKeepsProgramAlive(child, false)
      }
    },
    async end() {
      // Whoever waits for the end must live to see it.
      if (!ended) setKeepsProgramAlive(child, true)
      child.kill("SIGKILL")
      await over
    },
  }
}

function settleAnswer(line: string, waiting: Map<number, PromiseWithResolvers<RuleViolation[]>>): void {
  try {
    const { id, violations }: { id: number; violations: RuleViolation[] } = JSON.parse(line)
    waiting.get(id)?.resolve(violations)
  } catch {
    // What is no answer leaves the question open, and its time runs out.
  }
}

/** Whether the process, and what we read of it, keep this program from ending. */
function setKeepsProgramAlive(child: ChildProcessWithoutNullStreams, alive: boolean): void {
  for (const part of [child, child.stdin, child.stdout, child.stderr]) {
    // A pipe is a socket, whose own type is hidden behind that of a stream.
    const handle = part as { ref?: () => void; unref?: () => void }
    if (alive) handle.ref?.()
    else handle.unref?.()
  }
}
