import { randomUUID } from "node:crypto"
import type { Json } from "../../core/json.ts"
import { importPeer } from "../../core/peer.ts"
import { createSigner, type JupyterMessage } from "./jupyter.ts"
import type { Launched } from "./launch.ts"

/** A Jupyter kernel, spoken to over its own protocol. */
export interface Kernel {
  /** Runs code; resolves when the kernel has answered and fallen idle, with the answer. Never settles when the kernel dies. */
  execute(code: string, onMessage: (message: JupyterMessage) => void): Promise<JupyterMessage>
  close(): void
}

interface Socket {
  connect(address: string): void
  send(frames: Buffer[]): Promise<void>
  close(): void
  [Symbol.asyncIterator](): AsyncIterator<Buffer[]>
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
  const module = (await importPeer("zeromq", "pythonRuntime(), which speaks to a Jupyter kernel with it")) as unknown
  const { Dealer, Subscriber, default: common } = module as Partial<ZeroMq> & { default?: ZeroMq }
  return Dealer && Subscriber ? { Dealer, Subscriber } : (common as ZeroMq)
}

/** Connects to a kernel whose sockets are there. It is ready when an answer and the idle message for it have arrived:
 *  a subscription that is made too late would lose the first output. */
export async function connectKernel(launched: Launched, { Dealer, Subscriber }: ZeroMq): Promise<Kernel> {
  const session = randomUUID()
  const signer = createSigner(launched.key, session)
  const requests = new Map<string, Request>()
  // Nothing is dropped, however fast the kernel talks: the end of a cell must not be.
  const options = { linger: 0, receiveHighWaterMark: 0 }
  const shell = new Dealer({ ...options, routingId: session })
  const iopub = new Subscriber(options)
  iopub.subscribe()
  const sockets = { shell, iopub }
  for (const channel of ["shell", "iopub"] as const) sockets[channel].connect(launched.endpoint(channel))

  const finish = (id: string, request: Request) => {
    if (!request.reply || !request.idle) return
    requests.delete(id)
    request.resolve(request.reply)
  }
  const receive = (channel: keyof typeof sockets, message: JupyterMessage) => {
    const request = requests.get(message.parent ?? "")
    if (!request || !message.parent) return
    if (channel !== "iopub") request.reply = message
    else if (message.type === "status") request.idle ||= message.content.execution_state === "idle"
    else request.onMessage(message)
    finish(message.parent, request)
  }
  for (const channel of ["shell", "iopub"] as const) {
    pump(sockets[channel], (frames) => {
      const message = signer.unpack(frames)
      if (message) receive(channel, message)
    })
  }

  // One message at a time: zeromq refuses a second send before the first is out.
  let sent: Promise<void> = Promise.resolve()
  const send = (type: string, content: { [key: string]: Json }) => {
    const { id, frames } = signer.pack(type, content)
    sent = sent.then(() => shell.send(frames)).catch(() => undefined)
    return id
  }
  const request = (type: string, content: { [key: string]: Json }, onMessage: Request["onMessage"]) =>
    new Promise<JupyterMessage>((resolve) => {
      requests.set(send(type, content), { onMessage, resolve, idle: false })
    })

  const kernel: Kernel = {
    execute(code, onMessage) {
      const content = { code, silent: false, store_history: false, allow_stdin: false, stop_on_error: false }
      return request("execute_request", { ...content, user_expressions: {} }, onMessage)
    },
    close() {
      for (const socket of Object.values(sockets)) socket.close()
      requests.clear()
    },
  }
  const isReady = await ready(() => request("kernel_info_request", {}, () => undefined), launched.exited)
  requests.clear()
  // Whoever waits for it hears of its end elsewhere; its sockets must not outlive it.
  if (!isReady) kernel.close()
  return kernel
}

async function ready(ask: () => Promise<JupyterMessage>, exited: Promise<string>): Promise<boolean> {
  for (;;) {
    const { promise: late, resolve } = Promise.withResolvers<"late">()
    const timer = setTimeout(resolve, 100, "late")
    const first = await Promise.race([ask(), late, exited])
    clearTimeout(timer)
    if (first !== "late") return typeof first !== "string"
  }
}

async function pump(socket: Socket, onFrames: (frames: Buffer[]) => void): Promise<void> {
  try {
    for await (const frames of socket) onFrames(frames)
  } catch {
    // Closing a socket ends its last receive with an error.
  }
}
