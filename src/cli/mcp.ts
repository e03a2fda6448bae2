import { once } from "node:events"
import { Writable } from "node:stream"
import type { ServeOptions } from "../mcp/mcp.ts"
import { serveMcp } from "../mcp/server.ts"
import { serveMcpStdio } from "../mcp/stdio.ts"
import { parseArguments, wholeNumber } from "./arguments.ts"
import { loadServed } from "./mcp-module.ts"
import { untilTold } from "./until-told.ts"
import { UsageError } from "./usage-error.ts"

/** Serves the live objects of a module to the MCP client of a user. */
export async function mcp(args: string[]): Promise<number> {
  const { values, positionals } = parseArguments("mcp", args, {
    runtime: { type: "string" },
    http: { type: "boolean" },
    port: { type: "string" },
    name: { type: "string" },
    "cell-timeout": { type: "string" },
  })
  const [action, ...more] = positionals
  if (action !== "serve" || more.length > 0) {
    throw new UsageError(`karst mcp knows one action: karst mcp serve --runtime ./objects.ts`)
  }
  const port = wholeNumber("--port", values.port)
  if (port !== undefined && !values.http) throw new UsageError("--port is for --http: standard input has none.")
  const cellTimeout = wholeNumber("--cell-timeout", values["cell-timeout"])
  // Before the module is loaded: whatever it prints must not come between the messages of the protocol.
  const output = values.http ? undefined : ownOutput()
  const served = await loadServed(values.runtime)
  const options: ServeOptions = {
    name: values.name ?? "karst",
    ...served,
    ...(cellTimeout !== undefined && { cellTimeoutMs: cellTimeout * 1000 }),
  }
  const end = untilTold()
  try {
    await (output ? serveStreams(options, output, end) : serveHttp(options, port, end))
  } finally {
    await served.runtime?.close()
  }
  return 0
}

async function serveStreams(options: ServeOptions, output: Writable, end: AbortSignal): Promise<void> {
  await using server = await serveMcpStdio({ ...options, output })
  say("serving on standard input and output. This is for an MCP client to start; see docs/mcp.md.")
  await Promise.race([server.left, told(end)])
}

async function serveHttp(options: ServeOptions, port: number | undefined, end: AbortSignal): Promise<void> {
  await using server = await serveMcp({ ...options, port, token: process.env.KARST_MCP_TOKEN })
  say(`serving at ${server.url}`)
  say(`  with the header   Authorization: Bearer ${server.token}`)
  say(`  or, without one,  ${server.secretUrl}`)
  say("Who has the token can run code here. Ctrl-C ends it.")
  await told(end)
}

/** Standard output for the protocol alone; all else that is printed goes to standard error. */
function ownOutput(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      write(chunk, done)
    },
  })
}

function say(text: string): void {
  process.stderr.write(`karst: ${text}\n`)
}

async function told(end: AbortSignal): Promise<void> {
  if (!end.aborted) await once(end, "abort")
}
