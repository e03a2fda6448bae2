import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text as readAll } from "node:stream/consumers"
import type { TestContext } from "node:test"
import { fileURLToPath } from "node:url"

/** The user's folder of all commands that a test file starts. */
export const karstHome = mkdtempSync(join(tmpdir(), "karst-home-"))
process.on("exit", () => rmSync(karstHome, { recursive: true, force: true }))

const bin = fileURLToPath(new URL("../../src/cli/bin.ts", import.meta.url))

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** Starts the real command with a clean environment. */
export function startKarst(args: string[], env: Record<string, string> = {}, cwd?: string) {
  const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning"]
  const child = spawn(process.execPath, [...flags, bin, ...args], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      KARST_HOME: karstHome,
      ...env,
    },
  })
  const printed = { stdout: "", stderr: "" }
  child.stdout.setEncoding("utf8").on("data", (text) => (printed.stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text) => (printed.stderr += text))
  const ended = once(child, "close").then(([code, signal]): Ended => ({ code, signal, ...printed }))
  return { child, ended }
}

export function karst(args: string[], env: Record<string, string> = {}, cwd?: string): Promise<Ended> {
  const { child, ended } = startKarst(args, env, cwd)
  child.stdin.end()
  return ended
}

/** Starts a local model service that sends these answers in turn, then repeats the last one. A function writes the
 *  response itself. The returned id is for `--model`. */
export async function modelServer(t: TestContext, answers: (string | ((response: ServerResponse) => void))[]) {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const answer = answers[Math.min(bodies.push(await readAll(request)), answers.length) - 1]
    if (typeof answer === "function") return answer(response)
    response.writeHead(200, { "content-type": "text/event-stream" })
    const chunk = (fields: object) =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", ...fields })}\n\n`
    response.write(chunk({ choices: [{ index: 0, delta: { role: "assistant", content: answer } }] }))
    response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }))
    response.write(chunk({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }))
    response.end("data: [DONE]\n\n")
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  // It listens on a port, so the address is an object.
  const { port } = server.address() as AddressInfo
  return { id: `openai-compatible:http://127.0.0.1:${port}/v1#test`, bodies }
}
