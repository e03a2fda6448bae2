// Finds a Python interpreter that has ipykernel.
import { delimiter, join } from "node:path"
import { type ProgramFailure, runProgram } from "../../../core/child/child-process.ts"
import { isExecutable } from "../../../core/child/executable.ts"
import { ConfigError } from "../../../core/errors.ts"

export interface Interpreter {
  executable: string
  version: string
  /** The folders of Python and its packages, which must be readable to run it. */
  paths: string[]
  /** The folder of the user's own packages, which Python otherwise derives from HOME. */
  userBase: string
}

/** Returns the given interpreter, or the first with ipykernel of: `KARST_PYTHON`, the active virtual environment, PATH,
 *  and /usr/bin/python3. Throws a `ConfigError` that lists what was tried and how to install it. */
export async function findInterpreter(given?: string | undefined): Promise<Interpreter> {
  const candidates = given === undefined ? interpreterCandidates() : [given]
  const tried: string[] = []
  for (const candidate of candidates) {
    const found = await probe(candidate)
    if (typeof found !== "string") return found
    tried.push(`${candidate}: ${found}`)
  }
  const list = tried.length > 0 ? tried.join("; ") : "there is no python on PATH"
  throw new ConfigError(
    `No Python with ipykernel was found (${list}). Install it: pip install ipykernel, or apt install python3-ipykernel; ` +
      "or say which Python to use with the option `python` or the variable KARST_PYTHON.",
    { code: "missing-python", details: { tried } },
  )
}

const probes = new Map<string, Promise<Interpreter | string>>()

// `find_spec` does not import ipykernel, which would take most of a second.
const probeScript = `
import importlib.util, json, os, site, sys
print(json.dumps({
  "kernel": importlib.util.find_spec("ipykernel") is not None,
  "executable": sys.executable,
  "version": sys.version.split()[0],
  "paths": sorted({p for p in [sys.prefix, sys.base_prefix, *sys.path] if p and os.path.exists(p)}),
  "userBase": site.getuserbase() or "",
}))`

function interpreterCandidates(): string[] {
  const { KARST_PYTHON, VIRTUAL_ENV, PATH = "" } = process.env
  if (KARST_PYTHON) return [KARST_PYTHON]
  const active = VIRTUAL_ENV ? [join(VIRTUAL_ENV, "bin", "python")] : []
  const folders = PATH.split(delimiter).filter(Boolean)
  const onPath = folders.flatMap((folder) => ["python3", "python"].map((name) => join(folder, name)))
  return [...new Set([...active, ...onPath.filter(isExecutable), "/usr/bin/python3"])]
}

function probe(candidate: string): Promise<Interpreter | string> {
  const known = probes.get(candidate) ?? runProbe(candidate)
  probes.set(candidate, known)
  // Forget failures: the package may be installed later.
  known.then((found) => typeof found === "string" && probes.delete(candidate))
  return known
}

async function runProbe(candidate: string): Promise<Interpreter | string> {
  try {
    const { stdout } = await runProgram(candidate, ["-c", probeScript], { timeoutMs: 30_000 })
    const { kernel, ...interpreter }: Interpreter & { kernel: boolean } = JSON.parse(stdout)
    return kernel ? interpreter : `Python ${interpreter.version} without ipykernel`
  } catch (error) {
    const { code, stderr } = error as Partial<ProgramFailure>
    if (code === "ENOENT") return "not there"
    return `it cannot be run (${stderr?.trim().split("\n").at(-1) || String(code)})`
  }
}
