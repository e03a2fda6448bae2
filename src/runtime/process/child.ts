// The program of the child process. Descriptor 3 is the socket to its host, 4 the pipe for stop requests.
import { writeSync } from "node:fs"
import { Socket } from "node:net"
import { thrownText } from "../../core/errors.ts"
import { createSocketLink } from "../handles/socket-frames.ts"
import { cellStorage } from "../js/running-cell.ts"
import { writeCompileCache } from "./child/compile-cache.ts"
import { serveCells } from "./child/serve-cells.ts"
import { listenForStops } from "./child/stop-requests.ts"

// The host is trusted. Only sent messages are limited, by the maximum that the host accepts.
const unlimited = Number.POSITIVE_INFINITY
const limits = { maxBytes: unlimited, maxDepth: unlimited, maxSentBytes: unlimited, maxHeapBytes: unlimited }
const server = serveCells(createSocketLink(new Socket({ fd: 3 }), limits), {
  onLimit(maxBytes) {
    limits.maxSentBytes = maxBytes
  },
  // The child must end when its host is gone.
  onEnd: () => process.kill(process.pid, "SIGKILL"),
  onUnanswerable(error) {
    writeSync(2, `${thrownText(error)}\n`)
    process.exit(1)
  },
  listenForStops: (onStop) => listenForStops(4, onStop),
})

writeCompileCache()

process.on("uncaughtException", server.reportUncaught)
process.on("unhandledRejection", (reason) => {
  // The cell's runtime reports rejections of cells.
  if (!cellStorage.getStore()) server.reportUncaught(reason)
})
