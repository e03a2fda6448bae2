// A chat in a terminal of tmux, for tests.
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestContext } from "node:test"
import { fileURLToPath } from "node:url"
import { openTmux, type Tmux } from "../../providers/terminal/tmux.ts"
import { modelServer } from "../karst.ts"

export const bin = fileURLToPath(new URL("../../../src/cli/bin.ts", import.meta.url))
const source = (path: string) => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href)
export const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

export interface ChatWindow extends Tmux {
  folder: string
  home: string
  bodies: string[]
  /** Starts the chat again with other arguments. */
  start(...args: string[]): void
}

type Answers = Parameters<typeof modelServer>[1]

/** Opens a terminal with a chat whose model sends these answers. */
export async function openChat(
  t: TestContext,
  answers: Answers,
  {
    args = [],
    size = [100, 30],
    env = {},
  }: { args?: string[]; size?: [number, number]; env?: Record<string, string> } = {},
): Promise<ChatWindow> {
  const folder = await mkdtemp(join(tmpdir(), "karst-chat-"))
  const home = join(folder, "home")
  const { id, bodies } = await modelServer(t, answers)
  const { PATH = "", HOME = "", TMPDIR = tmpdir() } = process.env
  const tmux = await openTmux(folder, {
    PATH,
    HOME,
    TMPDIR,
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    KARST_HOME: home,
    ...env,
  })
  t.after(async () => {
    await tmux[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const flags = "--conditions=karst-source --disable-warning=ExperimentalWarning"
  const start = (...more: string[]) => {
    const model = more.includes("--agent") || more.includes("--session") ? "" : `--model ${id}`
    tmux.type(`clear; ${process.execPath} ${flags} ${bin} chat ${model} ${more.join(" ")}`, "Enter")
  }
  tmux.resize(...size)
  await writeAgent(folder, id)
  start(...args)
  await tmux.sees(/\/help\s+❯ *$/m)
  return { ...tmux, folder, home, bodies, start }
}

/** An agent of the user with a function that needs approval and a tool that asks. */
async function writeAgent(folder: string, model: string): Promise<void> {
  const text = `import { createAgent } from ${source("agent/create-agent.ts")}
    import { fn } from ${source("runtime/bindings.ts")}
    import { jsRuntime } from ${source("runtime/js.ts")}
    import { askTool } from ${source("tools/finish-and-ask.ts")}
    const wipe = fn((...what) => \`wiped \${what.length}\`, { approve: true, signature: "(...what: string[]) => Promise<string>" })
    export const agents = {
      wiper: createAgent({ name: "wiper", model: ${JSON.stringify(model)}, runtime: () => jsRuntime({ wipe }) }),
      asker: createAgent({ name: "asker", model: ${JSON.stringify(model)}, tools: [askTool()] }),
    }`
  await writeFile(join(folder, "agents.ts"), text)
}

/** Sends the beginning of an answer, and the rest when `go` is called. */
export function slowAnswer(first: string, rest: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const chunk = (choices: object[]) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices })}\n\n`
  const say = (content: string) => chunk([{ index: 0, delta: { role: "assistant", content } }])
  const answer = async (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(say(first))
    await promise
    response.write(say(rest))
    response.write(chunk([{ index: 0, delta: {}, finish_reason: "stop" }]))
    response.end("data: [DONE]\n\n")
  }
  return { answer, go: resolve }
}

const askCall = {
  tool_calls: [
    {
      index: 0,
      id: "t1",
      type: "function",
      function: { name: "ask", arguments: '{"question":"Which colour?","options":["red","green"]}' },
    },
  ],
}

export function toolAnswer(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" })
  const chunk = (choices: object[]) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices })}\n\n`
  response.write(chunk([{ index: 0, delta: { role: "assistant", ...askCall } }]))
  response.write(chunk([{ index: 0, delta: {}, finish_reason: "tool_calls" }]))
  response.end("data: [DONE]\n\n")
}
