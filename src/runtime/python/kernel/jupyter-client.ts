import { randomUUID } from "node:crypto"
import type { Json } from "../../../core/json.ts"
import { importOptionalPackage } from "../../../core/optional-package.ts"
import { createMessageCodec, type JupyterMessage } from "./jupyter-messages.ts"
import type { KernelProcess } from "./kernel-launch.ts"

/** A Jupyter kernel, spoken to over its own protocol. */
export interface JupyterClient {
  /** Runs code; resolves when the kernel has answered and fallen idle, with the answer. Never settles when the kernel dies. */
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
  // A true boundary: an optional package has no types of its own here.
  const module = (await importOptionalPackage(
    "zeromq",
    "pythonRuntime(), which speaks to a Jupyter kernel with it",
  )) as unknown
  const { Dealer, Subscriber, default: common } = module as Partial<ZeroMq> & { default?: ZeroMq }
  return Dealer && Subscriber ? { Dealer, Subscriber } : (common as ZeroMq)
}

/** Connects to a kernel whose sockets are there. It is ready when an answer and the idle message for it have arrived:
 *  a subscription that is made too late would lose the first output. `onFlood` is told when it sends too much. */
export async function connectJupyter(
  launched: KernelProcess,
  { Dealer, Subscriber }: ZeroMq,
  onFlood: () => void,
): Promise<JupyterClient> {
  const session = randomUUID()
  const signer = createMessageCodec(launched.key, session)
  const requests = new Map<string, Request>()
  const options = {
    linger: 0,
    // Nothing is dropped, however fast the kernel talks: the end of a cell must not be.
    receiveHighWaterMark: 0,
    maxMessageSize: maxMessageBytes,
    // Once only: where its socket was, code in the kernel may have put a link to another one.
    reconnectInterval: -1,
  }
  const shell = new Dealer({ ...options, routingId: session })
  const iopub = new Subscriber(options)
  iopub.subscribe()
  const sockets = { shell, iopub }
  for (const channel of channels) sockets[channel].connect(launched.endpoint(channel))

  const finish = (id: string, request: Request) => {
    if (!request.reply || !request.idle) return
    // The kernel answers in order: what was asked before and has no answer will have none.
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

  // Since the last request; counted before anything else is done with it, so that no flood is too fast.
  let received = { messages: 0, bytes: 0 }
  const take = (channel: keyof typeof sockets, frames: readonly Buffer[]) => {
    received.messages++
    for (const { length } of frames) received.bytes += length
    if (received.messages > maxMessages || received.bytes > maxBytes) return onFlood()
    const message = signer.unpack(frames)
    if (message) receive(channel, message)
  }

  // Waited for only while something is expected: a socket that is waited for keeps the program alive.
  const isExpected = { shell: ({ reply }: Request) => !reply, iopub: ({ idle }: Request) => !idle }
  const reading = new Set<keyof typeof sockets>()
  const read = async (channel: keyof typeof sockets): Promise<void> => {
    if (reading.has(channel)) return
    reading.add(channel)
    const waits = () => [...requests.values()].some(isExpected[channel])
    try {
      for (;;) {
        sockets[channel].receiveTimeout = waits() ? -1 : 0
        take(channel, await sockets[channel].receive())
      }
    } catch {
      // Nothing is there, or the socket was closed.
    }
    reading.delete(channel)
    if (waits() && !sockets[channel].closed) return read(channel)
  }
  // What comes unasked must not pile up.
  const sweep = setInterval(() => channels.forEach(read), 200).unref()

  // One message at a time: zeromq refuses a second send before the first is out.
  let sent: Promise<void> = Promise.resolve()
  const send = (type: string, content: { [key: string]: Json }) => {
    const { id, frames } = signer.pack(type, content)
    sent = sent.then(() => shell.send(frames)).catch(() => undefined)
    return id
  }
  const request = (type: string, content: { [key: string]: Json }, onMessage: Request["onMessage"]) =>
    new Promise<JupyterMessage>((resolve) => {
      received = { messages: 0, bytes: 0 }
      requests.set(send(type, content), { onMessage, resolve, idle: false })
      channels.forEach(read)
    })

  const kernel: JupyterClient = {
    execute(code, onMessage) {
      const content = { code, silent: false, store_history: false, allow_stdin: false, stop_on_error: false }
      return request("execute_request", { ...content, user_expressions: {} }, onMessage)
    },
    close() {
      clearInterval(sweep)
      for (const socket of Object.values(sockets)) socket.close()
      requests.clear()
    },
  }
  const isReady = await waitUntilReady(() => request("kernel_info_request", {}, () => undefined), launched.exited)
  requests.clear()
  // Whoever waits for it hears of its end elsewhere; its sockets must not outlive it.
  if (!isReady) kernel.close()
  return kernel
}

async function waitUntilReady(ask: () => Promise<JupyterMessage>, exited: Promise<string>): Promise<boolean> {
  for (;;) {
    const { promise: late, resolve } = Promise.withResolvers<"late">()
    const timer = setTimeout(resolve, 100, "late")
    const first = await Promise.race([ask(), late, exited])
    clearTimeout(timer)
    if (first !== "late") return typeof first !== "string"
  }
}

const channels = ["shell", "iopub"] as const
const maxMessageBytes = 2 ** 28
const maxBytes = 2 ** 28
const maxMessages = 100_000
