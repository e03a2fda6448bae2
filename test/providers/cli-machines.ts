import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import type { AgentEvent, EventOf, EventType } from "karst"
import type { CliOptions } from "karst/providers"
import { type CliName, findCli } from "../../scripts/clis.ts"
import { type PromptedModel, promptedModel } from "../fixtures/prompted-model.ts"

/** A machine for one CLI: a home, an empty work folder, a loopback model, and an environment of PATH and a few
 *  variables. */
export interface CliMachine extends AsyncDisposable {
  readonly model: PromptedModel
  readonly home: string
  readonly cwd: string
  /** What an agent on this machine is made with. */
  readonly options: CliOptions
  /** The command lines of the processes on this machine. */
  processes(): Promise<string[]>
}

export async function createCliMachine(
  name: CliName,
  env: (model: PromptedModel, home: string) => Promise<Variables>,
  version?: string,
): Promise<CliMachine> {
  const model = await promptedModel()
  const folder = await mkdtemp(join(tmpdir(), "karst-bench-"))
  const [home, cwd, temporary] = ["home", "work", "tmp"].map((each) => join(folder, each)) as [string, string, string]
  for (const each of [home, cwd, temporary]) await mkdir(each)
  const nothing = Object.fromEntries(Object.keys(process.env).map((each) => [each, undefined]))
  // Some CLIs are scripts that need this Node.
  const PATH = [dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter)
  const variables = { ...nothing, PATH, HOME: home, TMPDIR: temporary, ...(await env(model, home)) }
  return {
    model,
    home,
    cwd,
    options: {
      program: findCli(name, version),
      cwd,
      env: variables,
      idleTimeoutMs: 30_000,
      maxRetries: 0,
      autoWait: false,
    },
    processes: () => processesWith(`HOME=${home}`),
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** A machine for Claude Code, by default in the current version. */
export function claudeMachine(version?: string): Promise<CliMachine> {
  const variables = async (model: PromptedModel) => ({
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "1",
  })
  return createCliMachine("claude", variables, version)
}

/** A machine for Codex. */
export function codexMachine(): Promise<CliMachine> {
  return createCliMachine("codex", async (model, home) => {
    await mkdir(join(home, ".codex"))
    await writeFile(
      join(home, ".codex", "config.toml"),
      [
        'model = "gpt-5.2"',
        'model_provider = "loopback"',
        "[model_providers.loopback]",
        'name = "loopback"',
        `base_url = "${model.url}/v1"`,
        'env_key = "LOOPBACK_KEY"',
        'wire_api = "responses"',
        "request_max_retries = 1",
        "stream_max_retries = 1",
      ].join("\n"),
    )
    return { LOOPBACK_KEY: "none" }
  })
}

type Variables = Record<string, string>

/** A machine with a small program instead of Claude Code (test/fixtures/fake-claude.ts): fast, and without a model. */
export interface FakeClaudeMachine extends AsyncDisposable {
  readonly folder: string
  readonly cwd: string
  readonly options: CliOptions
  processes(): Promise<string[]>
}

export async function fakeClaudeMachine(): Promise<FakeClaudeMachine> {
  const folder = await mkdtemp(join(tmpdir(), "karst-fake-"))
  const program = join(folder, "claude")
  await writeFile(program, `#!/bin/sh\nexec ${process.execPath} ${join(fixtures, "fake-claude.ts")} "$@"\n`, {
    mode: 0o755,
  })
  const cwd = join(folder, "work")
  await mkdir(cwd)
  return {
    folder,
    cwd,
    options: { program, cwd, env: { HOME: folder }, idleTimeoutMs: 20_000, maxRetries: 0, autoWait: false },
    processes: () => processesWith(`HOME=${folder}`),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** A machine with small programs instead of Claude Code and Codex, which follow the words of the prompt
 *  (test/fixtures/fake-claude.ts). */
export interface FakeCliMachine extends AsyncDisposable {
  readonly folder: string
  readonly cwd: string
  /** What agents on this machine are made with. */
  readonly options: CliOptions
  /** Sets words that are added to every prompt of a CLI from now on. */
  tell(cli: "claude" | "codex", words: string): Promise<void>
  /** All prompts that a CLI got, by conversation. */
  heard(cli: "claude" | "codex"): Promise<string[][]>
  /** The arguments of each start of a CLI. */
  starts(cli: "claude" | "codex"): Promise<string[]>
  /** Removes the program of a CLI. */
  uninstall(cli: "claude" | "codex"): Promise<void>
  processes(): Promise<string[]>
}

export async function fakeCliMachine(): Promise<FakeCliMachine> {
  const folder = await mkdtemp(join(tmpdir(), "karst-fakes-"))
  const [bin, cwd] = [join(folder, "bin"), join(folder, "work")]
  await mkdir(bin)
  await mkdir(cwd)
  for (const name of ["claude", "codex"]) {
    const note = `case "$*" in --version) ;; *) echo "$*" >> "${join(folder, `${name}-starts`)}" ;; esac`
    const script = `#!/bin/sh\n${note}\nexec ${process.execPath} ${join(fixtures, `fake-${name}.ts`)} "$@"\n`
    await writeFile(join(bin, name), script, { mode: 0o755 })
  }
  const env = { HOME: folder, PATH: [bin, "/usr/bin", "/bin"].join(delimiter), CODEX_HOME: undefined }
  return {
    folder,
    cwd,
    options: { cwd, env, idleTimeoutMs: 20_000, maxRetries: 0, autoWait: false },
    tell: (cli, words) => writeFile(join(folder, `${cli}-words`), words),
    async heard(cli) {
      const memory = join(folder, `.fake-${cli}`)
      const names = (await readdir(memory).catch(() => [])).filter((name) => name !== "failed")
      return await Promise.all(names.map(async (name) => JSON.parse(await readFile(join(memory, name), "utf8"))))
    },
    starts: async (cli) => (await readFile(join(folder, `${cli}-starts`), "utf8")).trim().split("\n"),
    uninstall: (cli) => rm(join(bin, cli)),
    processes: () => processesWith(`HOME=${folder}`),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

const fixtures = join(import.meta.dirname, "..", "fixtures")

/** The events of a type, in order. */
export function eventsOfType<T extends EventType>(events: readonly AgentEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type)
}

/** Command lines of the processes whose environment has an entry. Empty on systems without /proc. */
export async function processesWith(entry: string): Promise<string[]> {
  return (await processesOf(entry)).map(({ command }) => command)
}

export async function processIdsWith(entry: string): Promise<number[]> {
  return (await processesOf(entry)).map(({ id }) => id)
}

async function processesOf(entry: string): Promise<{ id: number; command: string }[]> {
  const ids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(ids.map(async (id) => ({ id: Number(id), command: await commandOf(id, entry) })))
  return found.flatMap(({ id, command }) => (command === undefined ? [] : [{ id, command }]))
}

async function commandOf(id: string, entry: string): Promise<string | undefined> {
  try {
    const environment = await readFile(`/proc/${id}/environ`, "latin1")
    if (!environment.split("\0").includes(entry)) return undefined
    return (await readFile(`/proc/${id}/cmdline`, "utf8")).replaceAll("\0", " ").trim() || undefined
  } catch {
    // The process has ended.
    return undefined
  }
}

/** Waits until a condition holds; the error names the condition. */
export async function waitUntil(what: string, holds: () => boolean | Promise<boolean>, ms = 50_000): Promise<void> {
  const end = Date.now() + ms
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`It never came to this: ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
