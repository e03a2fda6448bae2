import { Socket } from "node:net"
import { createSocketLink } from "../handles/socket-frames.ts"
import { cellStorage } from "../js/running-cell.ts"
import { writeCompileCache } from "./child/compile-cache.ts"
import { serveCells } from "./child/serve-cells.ts"

// The program of a child process. Descriptor 3 is the socket to its host.

// The host is trusted: only what it accepts itself is limited.
const any = Number.POSITIVE_INFINITY
const limits = { maxBytes: any, maxDepth: any, maxSent: any, maxHeapBytes: any }
const server = serveCells(createSocketLink(new Socket({ fd: 3 }), limits), {
  onLimit(maxBytes) {
    limits.maxSent = maxBytes
  },
  // Without its host the child must not go on.
  onEnd: () => process.kill(process.pid, "SIGKILL"),
})

writeCompileCache()

process.on("uncaughtException", server.reportUncaught)
process.on("unhandledRejection", (reason) => {
  // Those of cells are reported by their runtime.
  if (!cellStorage.getStore()) server.reportUncaught(reason)
})
