// Loopback servers for the tests of karst/server, and a reader of server-sent events.
import { once } from "node:events"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { BrowserEvent } from "karst/server"

export interface Loopback extends AsyncDisposable {
  url: string
}

/** Starts a server on a free port. */
export async function listen(handle: RequestListener): Promise<Loopback> {
  const server = createServer(handle).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

/** Starts a server whose handler takes a `Request` and returns a `Response`, as in Hono and Next. A client that
 *  disconnects aborts the request's signal, and cancels the body of the response. */
export function listenWeb(handle: (request: Request) => Promise<Response>): Promise<Loopback> {
  return listen((req, res) => void answer(req, res, handle))
}

async function answer(
  req: IncomingMessage,
  res: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const left = new AbortController()
  res.on("close", () => left.abort())
  const body = req.method === "GET" ? null : await new Response(Readable.toWeb(req) as ReadableStream).text()
  const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)])
  const response = await handle(
    new Request(`http://localhost${req.url}`, { method: req.method ?? "GET", headers, body, signal: left.signal }),
  )
  res.writeHead(response.status, Object.fromEntries(response.headers))
  if (!response.body) return void res.end()
  await pipeline(response.body, res).catch(() => undefined)
}

export interface Frame {
  id?: string
  event?: BrowserEvent
}

/** Yields the frames of a stream as they arrive. An incomplete frame at the end is dropped, as browsers do. */
export async function* framesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Frame> {
  let text = ""
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const complete = text.split("\n\n")
    text = complete.pop() ?? ""
    for (const frame of complete) yield parseFrame(frame)
  }
}

function parseFrame(text: string): Frame {
  const fields = new Map(
    text.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  )
  const [id, data] = [fields.get("id"), fields.get("data")]
  return { ...(id !== undefined && { id }), ...(data !== undefined && { event: JSON.parse(data) }) }
}

export async function eventsOf(response: Response): Promise<BrowserEvent[]> {
  return (await Array.fromAsync(framesOf(response.body))).flatMap(({ event }) => (event ? [event] : []))
}

/** The text of all deltas of the answer. */
export function textOf(events: readonly BrowserEvent[]): string {
  return events.map((event) => (event.type === "text-delta" ? event.text : "")).join("")
}
