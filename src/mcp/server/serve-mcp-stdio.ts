import type { Readable, Writable } from "node:stream"
import { checkOptions } from "../../core/checks/check-options.ts"
import { serveChecks } from "../mcp-option-checks.ts"
import type { ServeOptions } from "../mcp-types.ts"
import { loadServer } from "../sdk-packages.ts"
import { createMcpService } from "./mcp-service.ts"

/** A server on two streams, for the one client that started this process. */
export interface McpStdio extends AsyncDisposable {
  /** Resolves when the client has left. */
  readonly left: Promise<void>
  close(): Promise<void>
}

/** Serves the same as `serveMcp`, over standard input and output, which then belong to the protocol: nothing else may be
 *  written there. */
export async function serveMcpStdio(
  options: ServeOptions & { input?: Readable | undefined; output?: Writable | undefined },
): Promise<McpStdio> {
  const { input = process.stdin, output = process.stdout, ...rest } = options
  checkOptions("serveMcpStdio()", rest, serveChecks)
  const sdk = await loadServer()
  const surface = createMcpService(sdk, rest)
  await surface.refresh(10_000)
  const left = Promise.withResolvers<void>()
  for (const event of ["end", "close", "error"]) input.once(event, () => left.resolve())
  const served = sdk.serveStdio(surface.factory, { transport: new sdk.StdioServerTransport(input, output) })
  const close = async () => {
    await surface.close()
    await served.close()
  }
  return { left: left.promise, close, [Symbol.asyncDispose]: close }
}
