// `karst mcp serve ./objects.ts`: serves a module's live objects to MCP clients.
import { once } from "node:events"
import { basename, extname } from "node:path"
import { Writable } from "node:stream"
import type { McpEndpoint, ServeOptions } from "../../mcp/mcp-types.ts"
import { serveMcp } from "../../mcp/server/serve-mcp.ts"
import { serveMcpStdio } from "../../mcp/server/serve-mcp-stdio.ts"
import type { Input } from "../command.ts"
import { endSignal } from "../end-signal.ts"
import { loadServedModule } from "../load/served-module.ts"
import { printNotice } from "../print-text.ts"
import { quoteShellWord } from "../shell-words.ts"
import type { serveOptions } from "../table/mcp.ts"
import { UsageError } from "../usage-error.ts"

const usage = "karst mcp serve ./objects.ts"

export async function serveCommand({ values, positionals }: Input<typeof serveOptions>): Promise<number> {
  const [path] = positionals
  const { port, "cell-timeout": cellTimeout } = values
  if (port !== undefined && !values.http) throw new UsageError("--port requires --http.")
  // Stdout is reserved before the module is loaded, so that nothing it prints gets between protocol messages.
  const output = values.http ? undefined : reserveStdout()
  const { file, approver = "client", ...served } = await loadServedModule(path, usage)
  const options: ServeOptions = {
    name: values.name ?? serverName(file),
    ...served,
    approver,
    ...(cellTimeout !== undefined && { cellTimeoutMs: cellTimeout * 1000 }),
  }
  const end = endSignal()
  try {
    await (output
      ? serveStreams(options, output, end, stdioAddCommands(options.name, file, cellTimeout))
      : serveHttp(options, port, end))
  } finally {
    await served.runtime?.close()
  }
  return 0
}

async function serveStreams(options: ServeOptions, output: Writable, end: AbortSignal, lines: string[]): Promise<void> {
  await using server = await serveMcpStdio({ ...options, output })
  printNotice(`serving "${options.name}" on standard input and output, for an MCP client to start. To add it to one:`)
  for (const line of lines) printNotice(`  ${line}`)
  await Promise.race([server.disconnected, whenAborted(end)])
}

async function serveHttp(options: ServeOptions, port: number | undefined, end: AbortSignal): Promise<void> {
  await using server = await serveMcp({ ...options, port, token: process.env.KARST_MCP_TOKEN })
  printNotice(`serving at ${server.url}`)
  printNotice(`  with the header   Authorization: Bearer ${server.token}`)
  printNotice(`  or, without one,  ${server.secretUrl}`)
  printNotice("To add it to a client:")
  for (const line of httpAddCommands(options.name, server)) printNotice(`  ${line}`)
  printNotice("Anyone with the token can run code on this computer. Press Ctrl-C to stop the server.")
  await whenAborted(end)
}

/** Returns the commands that add this server to Claude Code and Codex. Uses absolute paths, because clients start
 *  the server in their own folder and environment. */
function stdioAddCommands(name: string, file: string, cellTimeout: number | undefined): string[] {
  const program = [process.execPath, ...process.execArgv, process.argv[1] ?? "karst"]
  const limit = cellTimeout === undefined ? [] : ["--cell-timeout", String(cellTimeout)]
  const command = [...program, "mcp", "serve", file, "--name", name, ...limit].map(quoteShellWord).join(" ")
  return ["claude", "codex"].map((client) => `${client} mcp add ${quoteShellWord(name)} -- ${command}`)
}

function httpAddCommands(name: string, { url, token }: McpEndpoint): string[] {
  return [
    `claude mcp add --transport http ${quoteShellWord(name)} ${url} --header ${quoteShellWord(`Authorization: Bearer ${token}`)}`,
    `export KARST_MCP_TOKEN=${quoteShellWord(token)}; codex mcp add ${quoteShellWord(name)} --url ${url} --bearer-token-env-var KARST_MCP_TOKEN`,
  ]
}

/** Returns a module's file name as a server name of one word. */
function serverName(file: string): string {
  return basename(file, extname(file)).split(/\W+/).filter(Boolean).join("-") || "karst"
}

/** Reserves standard output for the protocol. Everything else that is printed goes to standard error. */
function reserveStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      write(chunk, done)
    },
  })
}

async function whenAborted(end: AbortSignal): Promise<void> {
  if (!end.aborted) await once(end, "abort")
}
