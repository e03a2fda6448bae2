// A headless Chromium for tests that look at a page: `await using browser = await startChromium()`. It is driven over
// the pipe of its debugging protocol, so it opens no port.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"
import { findProgram } from "../src/providers/find-program.ts"

/** The path of the browser, or a program of this name in PATH. */
const chromium = findProgram({ binary: "chromium" }, { program: process.env.KARST_CHROMIUM })

/** Why a test that needs the browser is skipped here; false if the browser is there. */
export const withoutChromium =
  chromium === undefined && "Chromium is not installed (on Debian: apt-get install chromium)"

export interface OpenOptions {
  /** In CSS pixels. 390 is a phone. */
  width: number
  scheme: "light" | "dark"
}

export interface Browser extends AsyncDisposable {
  open(address: string, options: OpenOptions): Promise<Page>
}

export interface Page {
  /** The value of an expression in the page. It must be JSON. */
  evaluate<T>(expression: string): Promise<T>
  /** What the console got: errors of scripts, refusals of the content security policy, failed requests. */
  readonly messages: readonly string[]
  /** The addresses that the page asked for, data: addresses left out. */
  readonly requests: readonly string[]
  /** Writes the whole page as a PNG, if KARST_SCREENSHOTS names a folder. */
  screenshot(name: string): Promise<void>
  close(): Promise<void>
}

export async function startChromium(): Promise<Browser> {
  const folder = await mkdtemp(join(tmpdir(), "karst-chromium-"))
  const options = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
    // Otherwise the browser itself asks its maker for updates and lists.
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    `--user-data-dir=${join(folder, "profile")}`,
  ]
  const env = { ...process.env, HOME: folder }
  const child = spawn(chromium ?? "", options, { env, stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] })
  const { send, listen } = connect(child)
  return {
    open: (address, options) => openPage({ send, listen }, address, options),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        const exit = once(child, "exit")
        child.kill("SIGKILL")
        await exit
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}

/** What makes the page scroll sideways. */
export function wideElements(page: Page): Promise<string[]> {
  return page.evaluate(`document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
      .map((element) => element.tagName + '.' + element.className)`)
}

/** Texts whose contrast to their background is below 4.5, the least that WCAG AA allows. */
export function faintTexts(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number)
  const light = (colour) => {
    const [r, g, b] = numbers(colour).map((part) => part / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const backOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const back = getComputedStyle(at).backgroundColor
      if (numbers(back)[3] !== 0) return back
    }
    return 'rgb(255, 255, 255)'
  }
  const faint = [...document.querySelectorAll('body *')]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
    .filter((element) => {
      const [a, b] = [light(getComputedStyle(element).color), light(backOf(element))]
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5
    })
    .map((element) => element.tagName + '.' + element.className + ': ' + element.textContent.trim().slice(0, 40))
  return faint
})()`)
}

type Parameters = Record<string, unknown>

interface Reply {
  id?: number
  method?: string
  params?: Parameters
  sessionId?: string
  result?: Parameters
  error?: { message: string }
}

interface Connection {
  send(method: string, params?: Parameters, sessionId?: string): Promise<Parameters>
  /** Gets every event. Returns the function that ends this. */
  listen(listener: (event: Reply) => void): () => void
}

/** Messages are JSON, each followed by a NUL character. */
function connect(child: ChildProcess): Connection {
  // `stdio` above makes both of them pipes.
  const [input, output] = [child.stdio[3] as Writable, child.stdio[4] as Readable]
  const waiting = new Map<number, PromiseWithResolvers<Parameters>>()
  const listeners = new Set<(event: Reply) => void>()
  let count = 0
  let rest = ""
  output.setEncoding("utf8").on("data", (text: string) => {
    const messages = (rest + text).split("\0")
    rest = messages.pop() ?? ""
    for (const message of messages) take(JSON.parse(message))
  })
  input.on("error", () => {})
  child.on("error", failAll)
  child.on("exit", (code, signal) => failAll(new Error(`Chromium ended with ${signal ?? code}`)))

  function take(reply: Reply): void {
    if (reply.id === undefined) return listeners.forEach((listener) => void listener(reply))
    const call = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (reply.error) call?.reject(new Error(reply.error.message))
    else call?.resolve(reply.result ?? {})
  }

  function failAll(error: Error): void {
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }

  return {
    send(method, params = {}, sessionId) {
      const id = ++count
      const call = Promise.withResolvers<Parameters>()
      waiting.set(id, call)
      input.write(`${JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`)
      return call.promise
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

async function openPage(connection: Connection, address: string, { width, scheme }: OpenOptions): Promise<Page> {
  const { targetId } = await connection.send("Target.createTarget", { url: "about:blank" })
  const attached = await connection.send("Target.attachToTarget", { targetId, flatten: true })
  const sessionId = String(attached.sessionId)
  const send = (method: string, params?: Parameters) => connection.send(method, params, sessionId)
  const messages: string[] = []
  const requests: string[] = []
  const loaded = Promise.withResolvers<void>()
  const unlisten = connection.listen(({ method, params, sessionId: from }) => {
    if (from !== sessionId) return
    if (method === "Page.loadEventFired") loaded.resolve()
    if (method === "Runtime.exceptionThrown" || method === "Runtime.consoleAPICalled" || method === "Log.entryAdded")
      messages.push(JSON.stringify(params))
    if (method !== "Network.requestWillBeSent") return
    const request = params?.request as { url: string } | undefined
    if (request && !request.url.startsWith("data:")) requests.push(request.url)
  })
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`)
  await send("Emulation.setDeviceMetricsOverride", { width, height: 844, deviceScaleFactor: 1, mobile: width < 600 })
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] })
  const { errorText } = await send("Page.navigate", { url: address })
  if (errorText !== undefined) throw new Error(`Chromium cannot open ${address}: ${errorText}`)
  await loaded.promise

  return {
    messages,
    requests,
    async evaluate<T>(expression: string) {
      const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true })
      if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`)
      return (result as { value: T }).value
    },
    async screenshot(name) {
      const folder = process.env.KARST_SCREENSHOTS
      if (!folder) return
      const { data } = await send("Page.captureScreenshot", { captureBeyondViewport: true })
      await writeFile(join(folder, `${name}.png`), Buffer.from(String(data), "base64"))
    },
    async close() {
      unlisten()
      await connection.send("Target.closeTarget", { targetId })
    },
  }
}
