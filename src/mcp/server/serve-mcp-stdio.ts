// Serves MCP over standard input and output.
import type { Readable, Writable } from "node:stream"
import { checkOptions } from "../../core/checks/check-options.ts"
import { serveChecks } from "../mcp-option-checks.ts"
import type { ServeOptions } from "../mcp-types.ts"
import { loadServer } from "../sdk-packages.ts"
import { createMcpService } from "./mcp-service.ts"

/** A server on two streams, for the client that started this process. */
export interface McpStdio extends AsyncDisposable {
  /** Resolves when the client has disconnected. */
  readonly disconnected: Promise<void>
  /** Ends the calls under way and the connection. */
  close(): Promise<void>
}

/** Serves the same as `serveMcp` over standard input and output. Nothing else may be written to standard output. */
export async function serveMcpStdio(
  options: ServeOptions & { input?: Readable | undefined; output?: Writable | undefined },
): Promise<McpStdio> {
  const { input = process.stdin, output = process.stdout, ...rest } = options
  checkOptions("serveMcpStdio()", rest, serveChecks)
  const sdk = await loadServer()
  const service = createMcpService(sdk, rest)
  await service.refresh(10_000)
  const left = Promise.withResolvers<void>()
  for (const event of ["end", "close", "error"]) input.once(event, () => left.resolve())
  const served = sdk.serveStdio(service.factory, { transport: new sdk.StdioServerTransport(input, output) })
  const close = async () => {
    await service.close()
    await served.close()
  }
  return { disconnected: left.promise, close, [Symbol.asyncDispose]: close }
}
