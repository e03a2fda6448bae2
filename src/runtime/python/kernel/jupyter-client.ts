// Executes code in a kernel through the Jupyter protocol, over ZeroMQ sockets.
import { randomUUID } from "node:crypto"
import type { Json } from "../../../core/json.ts"
import { importOptionalPackage } from "../../../core/optional-package.ts"
import { serialQueue } from "../../../core/serial.ts"
import { resultWithin } from "../../../core/time-limit.ts"
import { createMessageCodec, type JupyterMessage } from "./jupyter-messages.ts"
import type { KernelProcess } from "./kernel-launch.ts"

export interface JupyterClient {
  /** Runs code. Resolves with the reply when the kernel has replied and is idle. Never settles if the kernel dies. */
  execute(code: string, onMessage: (message: JupyterMessage) => void): Promise<JupyterMessage>
  close(): void
}

interface Socket {
  connect(address: string): void
  send(frames: Buffer[]): Promise<void>
  receive(): Promise<Buffer[]>
  receiveTimeout: number
  readonly closed: boolean
  close(): void
}

interface ZeroMq {
  Dealer: new (options: object) => Socket
  Subscriber: new (options: object) => Socket & { subscribe(): void }
}

interface Request {
  onMessage: (message: JupyterMessage) => void
  resolve: (reply: JupyterMessage) => void
  reply?: JupyterMessage
  idle: boolean
}

export async function loadZeroMq(): Promise<ZeroMq> {
  // zeromq is an optional package, so its types are not available.
  const module = (await importOptionalPackage(
    "zeromq",
    "pythonRuntime(), which speaks to a Jupyter kernel with it",
  )) as unknown
  const { Dealer, Subscriber, default: common } = module as Partial<ZeroMq> & { default?: ZeroMq }
  return Dealer && Subscriber ? { Dealer, Subscriber } : (common as ZeroMq)
}

/** Connects to the sockets of a kernel. Resolves when a reply and its idle message have arrived, so that the
 *  subscription is active and no output is lost. Calls `onFlood` if the kernel sends too much. */
export async function connectJupyter(
  launched: KernelProcess,
  { Dealer, Subscriber }: ZeroMq,
  onFlood: () => void,
): Promise<JupyterClient> {
  const session = randomUUID()
  const codec = createMessageCodec(launched.key, session)
  const requests = new Map<string, Request>()
  const options = {
    linger: 0,
    // Drop no message, however fast the kernel sends: the end of a cell must arrive.
    receiveHighWaterMark: 0,
    maxMessageSize: maxMessageBytes,
    // Never reconnect: a cell may have replaced the socket by a link to another one.
    reconnectInterval: -1,
  }
  const shell = new Dealer({ ...options, routingId: session })
  const iopub = new Subscriber(options)
  iopub.subscribe()
  const sockets = { shell, iopub }
  for (const channel of channels) sockets[channel].connect(launched.endpoint(channel))

  const finish = (id: string, request: Request) => {
    if (!request.reply || !request.idle) return
    // The kernel replies in order, so older requests will get no reply any more.
    for (const older of requests.keys()) {
      requests.delete(older)
      if (older === id) break
    }
    request.resolve(request.reply)
  }
  const receive = (channel: keyof typeof sockets, message: JupyterMessage) => {
    const request = requests.get(message.parent)
    if (!request) return
    if (channel !== "iopub") request.reply = message
    else if (message.type === "status") request.idle ||= message.content.execution_state === "idle"
    else request.onMessage(message)
    finish(message.parent, request)
  }

  // Received since the last request. Messages are counted before they are parsed, so that a flood is found in time.
  let received = { messages: 0, bytes: 0 }
  const onFrames = (channel: keyof typeof sockets, frames: readonly Buffer[]) => {
    received.messages++
    for (const { length } of frames) received.bytes += length
    if (received.messages > maxMessages || received.bytes > maxBytes) return onFlood()
    const message = codec.unpack(frames)
    if (message) receive(channel, message)
  }

  // Read a socket only while a message is expected, because a pending read keeps the program alive.
  const isExpected = { shell: ({ reply }: Request) => !reply, iopub: ({ idle }: Request) => !idle }
  const reading = new Set<keyof typeof sockets>()
  const read = async (channel: keyof typeof sockets): Promise<void> => {
    if (reading.has(channel)) return
    reading.add(channel)
    const isWaiting = () => [...requests.values()].some(isExpected[channel])
    try {
      for (;;) {
        sockets[channel].receiveTimeout = isWaiting() ? -1 : 0
        onFrames(channel, await sockets[channel].receive())
      }
    } catch {
      // No message is available, or the socket was closed.
    }
    reading.delete(channel)
    if (isWaiting() && !sockets[channel].closed) return read(channel)
  }
  // Read and discard unexpected messages, so that they do not accumulate.
  const drainTimer = setInterval(() => channels.forEach(read), 200).unref()

  // Send one message at a time: zeromq refuses a second send while the first is pending.
  const sends = serialQueue()
  const send = (type: string, content: { [key: string]: Json }) => {
    const { id, frames } = codec.pack(type, content)
    sends(() => shell.send(frames)).catch(() => undefined)
    return id
  }
  const request = (type: string, content: { [key: string]: Json }, onMessage: Request["onMessage"]) =>
    new Promise<JupyterMessage>((resolve) => {
      received = { messages: 0, bytes: 0 }
      requests.set(send(type, content), { onMessage, resolve, idle: false })
      channels.forEach(read)
    })

  const client: JupyterClient = {
    execute(code, onMessage) {
      const content = { code, silent: false, store_history: false, allow_stdin: false, stop_on_error: false }
      return request("execute_request", { ...content, user_expressions: {} }, onMessage)
    },
    close() {
      clearInterval(drainTimer)
      for (const socket of Object.values(sockets)) socket.close()
      requests.clear()
    },
  }
  const isReady = await waitUntilReady(() => request("kernel_info_request", {}, () => undefined), launched.exited)
  requests.clear()
  // The kernel has ended, which its `exited` promise reports. Close the sockets.
  if (!isReady) client.close()
  return client
}

async function waitUntilReady(ask: () => Promise<JupyterMessage>, exited: Promise<string>): Promise<boolean> {
  for (;;) {
    const outcome = await resultWithin(Promise.race([ask(), exited]), 100)
    if (outcome !== undefined) return typeof outcome !== "string"
  }
}

const channels = ["shell", "iopub"] as const
const maxMessageBytes = 2 ** 28
const maxBytes = 2 ** 28
const maxMessages = 100_000
