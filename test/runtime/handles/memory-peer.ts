import { AsyncLocalStorage } from "node:async_hooks"
import type { Bindings } from "../../../src/runtime/bindings.ts"
import { createFrameReader, encodeFrame } from "../../../src/runtime/handles/socket-frames.ts"
import type { Frame, FrameHandlers, FrameLink } from "../../../src/runtime/handles/wire.ts"
import { serveCells } from "../../../src/runtime/process/child/serve-cells.ts"
import type { PeerEnding, StartPeer } from "../../../src/runtime/process/peer-process.ts"
import { createProcessRuntime } from "../../../src/runtime/process/process-runtime.ts"
import type { ProcessRuntimeOptions } from "../../../src/runtime/process.ts"

/** Changes a frame on its way, drops it (undefined), or replaces it by several. */
export type Alter = (frame: Frame, to: "host" | "peer") => Frame | readonly Frame[] | undefined

/** A processRuntime whose peer runs in this process: every message passes `alter`. */
export function memoryRuntime(
  bindings: Bindings,
  alter: Alter = (frame) => frame,
  options: ProcessRuntimeOptions = {},
) {
  return createProcessRuntime(bindings, options, startMemoryPeer(alter))
}

function startMemoryPeer(alter: Alter): StartPeer {
  return (_launch, events) => {
    const [hostEnd, peerEnd] = linkPair(alter)
    const { promise: gone, resolve } = Promise.withResolvers<void>()
    let ending: PeerEnding | undefined
    serveCells(peerEnd, { onLimit() {}, onEnd() {}, onUnanswerable() {}, listenForStops: () => () => undefined })
    return {
      link: hostEnd,
      get ending() {
        return ending
      },
      gone,
      startCell() {},
      requestStop() {},
      kill(given) {
        if (ending) return
        ending = given
        hostEnd.close()
        peerEnd.close()
        events.onEnding(given)
        resolve()
      },
    }
  }
}

function linkPair(alter: Alter): [host: FrameLink, peer: FrameLink] {
  const handlers: { host?: FrameHandlers; peer?: FrameHandlers } = {}
  // Both ends run in this process. Neither may see the asynchronous context of the other.
  const outside = AsyncLocalStorage.snapshot()
  let open = true
  const end = (to: "host" | "peer"): FrameLink => ({
    send(frame) {
      const altered = alter(frame, to) ?? []
      for (const each of Array.isArray(altered) ? altered : [altered]) {
        const copy = throughBytes(each)
        outside(() => setImmediate(() => open && handlers[to]?.onFrame(copy)))
      }
    },
    listen(given) {
      handlers[to === "host" ? "peer" : "host"] = given
    },
    keepProcessAlive() {},
    close() {
      open = false
    },
  })
  return [end("peer"), end("host")]
}

/** Writes a frame to bytes and reads it again. */
function throughBytes(frame: Frame): Frame {
  const any = Number.POSITIVE_INFINITY
  let read: Frame | undefined
  const reader = createFrameReader({ maxBytes: any, maxSentBytes: any, maxDepth: any, maxHeapBytes: any }, (each) => {
    read = each
  })
  const problem = reader(Buffer.concat(encodeFrame(frame, any)))
  if (!read) throw new Error(`The frame cannot be read: ${problem}`)
  return read
}
