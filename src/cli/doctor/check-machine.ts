// Checks of the machine: Node, isolation, the Python kernel, Redis.
import { once } from "node:events"
import { connect } from "node:net"
import { sandboxFailure } from "../../core/child/bubblewrap.ts"
import { AgentError, errorData } from "../../core/errors.ts"
import { hideInAddresses } from "../../core/text/hide-secrets.ts"
import { findInterpreter } from "../../runtime/python/kernel/find-interpreter.ts"
import { pythonRuntime } from "../../runtime/python.ts"
import { closeClient, connectRedis, redisError } from "../../stores/redis-client.ts"
import { type Check, failedCheck } from "./check.ts"

export function checkNode(): Check {
  return { name: "node", state: "ok", text: `${process.versions.node}, ${process.platform} ${process.arch}` }
}

export function checkIsolation(): Check {
  const failure = sandboxFailure()
  if (failure === undefined)
    return { name: "isolation", state: "ok", text: "os: bubblewrap keeps files and network from cells" }
  const text = `process: cells run in a process of their own, which keeps neither files nor network from them; ${failure.cause}`
  return { name: "isolation", state: "missing", text, remedy: `${failure.remedy}.` }
}

/** Starts a kernel and runs a cell in it. */
export async function checkPython(): Promise<Check> {
  try {
    const { executable, version } = await findInterpreter()
    await using runtime = pythonRuntime()
    const execution = await runtime.execute("6 * 7")
    if (execution.ok) return { name: "python", state: "ok", text: `${version}, ${executable}` }
    const text = `${executable} runs, but a cell fails: ${execution.error.message}`
    return { name: "python", state: "broken", text, remedy: pythonRemedy }
  } catch (error) {
    const isMissing = ["missing-python", "missing-package"].includes(errorData(error).code ?? "")
    return failedCheck("python", error, { state: isMissing ? "missing" : "broken", remedy: pythonRemedy })
  }
}

const pythonRemedy =
  "Install ipykernel again: pip install --force-reinstall ipykernel. KARST_PYTHON names another Python."

const localRedis = "redis://127.0.0.1:6379"

/** Checks the server of the address, or looks for one on this machine. */
export async function checkRedis(given: string | undefined): Promise<Check> {
  const address = given ?? localRedis
  if (!URL.canParse(address))
    return {
      name: "redis",
      state: "broken",
      text: `"${hideInAddresses(address)}" is no address.`,
      remedy: "Write redis://host:6379.",
    }
  const url = new URL(address)
  const place = `${url.protocol}//${url.host}`
  const problem = await connectionProblem(url)
  if (problem !== undefined) {
    const remedy = given === undefined ? "Start one, or name it with --redis; only Redis stores need it." : "Start it."
    return { name: "redis", state: given === undefined ? "missing" : "broken", text: `${place}: ${problem}`, remedy }
  }
  return await redisVersion(address, place)
}

async function redisVersion(address: string, place: string): Promise<Check> {
  try {
    const client = await connectRedis(address)
    const info = await client.info("server").finally(() => closeClient(client))
    const [, version = "unknown", major, minor] = /^redis_version:((\d+)\.(\d+)\S*)/m.exec(info) ?? []
    const isOld = Number(major) < 6 || (Number(major) === 6 && Number(minor) < 2)
    const text = `${version}, ${place}`
    if (!isOld) return { name: "redis", state: "ok", text }
    return { name: "redis", state: "broken", text, remedy: "Install Redis 6.2 or newer." }
  } catch (error) {
    const known = redisError(error, place)
    const isMissing = known instanceof AgentError && known.code === "missing-package"
    const remedy = "Check the address, and that the server accepts connections."
    return failedCheck("redis", known, { state: isMissing ? "missing" : "broken", remedy })
  }
}

/** Tries a connection first, because a client of Redis waits long for a server that is not there. */
async function connectionProblem({ hostname, port }: URL): Promise<string | undefined> {
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 6379) })
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(3000) })
    return undefined
  } catch (error) {
    const { name, code, message } = error as NodeJS.ErrnoException
    if (name === "AbortError") return "it does not answer"
    return code === "ECONNREFUSED" ? "there is no server" : message
  } finally {
    socket.destroy()
  }
}
