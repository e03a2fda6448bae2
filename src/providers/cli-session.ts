// Opens, resumes and forks sessions with a coding CLI.
import type { Run } from "../core/agent.ts"
import { UnsupportedError } from "../core/errors.ts"
import { newId, type Prompt } from "../core/message.ts"
import type { WaitForStart } from "../core/run-queue.ts"
import { runtimeContext } from "../runtime/open-runtime.ts"
import { approvalsIgnoredMessage, refuseForeignCwd } from "../sessions/handle-trust.ts"
import { createSession, sessionTrajectory } from "../sessions/session.ts"
import type { ArchiveOptions, StoredSession } from "../sessions/session-archive.ts"
import { cliSessionHandle } from "../sessions/session-handle.ts"
import {
  createSessionStorage,
  findStoredSession,
  forkSessionStorage,
  identifySession,
  locateSession,
  restoreOwnRuntime,
  type SessionStorage,
  storeConversation,
  trackOwnRuntime,
  withSessionArchive,
} from "../sessions/session-storage.ts"
import { takeOverSession } from "../sessions/session-writer.ts"
import type { CliRunOptions, CliSession } from "./cli-agent.ts"
import { type CliConversation, createCliConversation } from "./cli-conversation.ts"
import {
  noHandleYetError,
  readSessionMetadata,
  requireSafeKey,
  requireSameProvider,
  sessionMetadata,
  sessionNotFoundError,
  unsentForkOfSession,
} from "./cli-session-metadata.ts"
import { requireFolder } from "./find-program.ts"
import { type CliOptions, mergeOptions, resolveOptions } from "./options.ts"
import type { Provider } from "./provider.ts"
import { mirrorTrajectoryToFile } from "./trajectory-file.ts"

/** What a session needs from the agent that opens it. */
export interface CliSessionDriver {
  provider: Provider
  options: CliOptions
  /** Aborts the runs of the session. */
  signal: AbortSignal | undefined
  start(
    prompt: Prompt,
    sent: CliRunOptions | undefined,
    session: { options: CliOptions; waitForStart: WaitForStart; conversation(): Promise<CliConversation> },
  ): Run
}

/** Opens a new or a stored session. Options that are not given are those of the stored session. */
export async function openCliSession(driver: CliSessionDriver, opening: ArchiveOptions): Promise<CliSession> {
  const { provider } = driver
  const location = locateSession(opening, ({ id, provider: other }) => requireSameProvider(provider, id, other))
  const { source, isNamedByHandle } = location
  return await withSessionArchive(source, async (archive) => {
    const { id, parts } = await identifySession(archive, location, resolveOptions(provider, driver.options).name)
    const stored = archive && parts ? await findStoredSession(archive, parts.id) : undefined
    const head = readSessionMetadata(stored?.record.head)
    if (parts && stored) requireSameProvider(provider, parts.id, head?.provider)
    if (parts && !stored && parts.key === undefined) throw sessionNotFoundError(parts.id, archive?.name)
    const ownKey = head?.key ?? parts?.key
    const key = requireSafeKey(ownKey ?? head?.forkOf)
    const fork = ownKey === undefined && key !== undefined
    const { instructions, systemPrompt } = head?.options ?? {}
    const given = opening.keepPrompt && head ? { ...driver.options, instructions, systemPrompt } : driver.options
    const options = mergeOptions({ ...head?.options, cwd: head?.cwd ?? parts?.cwd }, given)
    const isCwdFromHandle = isNamedByHandle || head?.cwd === undefined
    if (parts && isCwdFromHandle && driver.options.cwd === undefined && options.cwd !== undefined)
      refuseForeignCwd(options.cwd)
    const resolved = { ...driver, options: { ...options, cwd: requireFolder(options.cwd) } }
    const writer = archive && stored ? await takeOverSession(archive, stored) : undefined
    const approved = isNamedByHandle ? [] : head?.approved
    const conversation = await restoreConversation(resolved, id, stored, {
      key,
      fork,
      approved,
      isStored: archive !== undefined,
    })
    if (isNamedByHandle && head && head.approved.length > 0)
      conversation.warnings.push(approvalsIgnoredMessage(head.approved))
    const agent = resolveOptions(provider, resolved.options).name
    return createCliSession(resolved, conversation, id, createSessionStorage(archive, source, { id, agent, writer }))
  })
}

function createCliSession(
  driver: CliSessionDriver,
  conversation: CliConversation,
  id: string,
  storage: SessionStorage | undefined,
): CliSession {
  const { provider, options } = driver
  if (storage) {
    storeConversation(storage.writer, conversation, () => {
      const { session, approved, runtime, ownsRuntime } = conversation
      const facts = {
        provider: provider.name,
        key: session.key,
        forkOf: session.forkOf,
        cwd: options.cwd,
        approved,
        options,
      }
      return { head: sessionMetadata(facts), runtime, ownsRuntime }
    })
  }
  const created = createSession<CliRunOptions>({
    id,
    storage,
    handle() {
      const { key } = conversation.session
      const isStored = storage !== undefined && conversation.events.length > 0
      if (key === undefined && !isStored) throw noHandleYetError(id)
      return cliSessionHandle({ id, provider: provider.name, key, cwd: options.cwd, folder: storage?.archive.folder })
    },
    runtime: conversation.runtime,
    start: (prompt, sent, waitForStart) =>
      driver.start(prompt, sent, {
        options,
        waitForStart,
        async conversation() {
          await storage?.writer.claim()
          return conversation
        },
      }),
    messages: () => conversation.messages,
    events: () => conversation.events,
    fork: provider.can.fork
      ? async ({ before }) => {
          if (before === undefined) return forkCliSession(driver, conversation, storage)
          throw new UnsupportedError(`${provider.title} can be forked only from here: leave out \`before\`.`)
        }
      : undefined,
    close: conversation.close,
  })
  unsentForkOfSession.set(created, () => {
    const { key, forkOf } = conversation.session
    return key === undefined && forkOf !== undefined ? { forkOf, cwd: options.cwd } : undefined
  })
  if (options.trajectoryPath !== undefined)
    mirrorTrajectoryToFile(conversation, options.trajectoryPath, created.trajectory)
  return created
}

interface RestoreOptions {
  key: string | undefined
  fork: boolean
  approved: readonly string[] | undefined
  isStored: boolean
}

async function restoreConversation(
  { provider, options, signal }: CliSessionDriver,
  session: string,
  stored: StoredSession | undefined,
  { isStored, ...from }: RestoreOptions,
): Promise<CliConversation> {
  const system = stored && sessionTrajectory(stored.record.id, stored.events, undefined).system
  const config = resolveOptions(provider, options)
  const context = runtimeContext(config, { session, signal })
  const conversation = await createCliConversation(provider, config, {
    ...from,
    events: stored?.events,
    system,
    context,
  })
  conversation.warnings.push(...(await restoreOwnRuntime(conversation, stored?.snapshot)))
  if (isStored) await trackOwnRuntime(conversation)
  return conversation
}

/** Creates a session that continues from here; this one stays unchanged. */
async function forkCliSession(
  driver: CliSessionDriver,
  conversation: CliConversation,
  storage: SessionStorage | undefined,
): Promise<CliSession> {
  const { provider, options, signal } = driver
  const { events, approved, system, session, ownsRuntime } = conversation
  const runtime = ownsRuntime ? await conversation.runtime?.fork?.() : conversation.runtime
  const config = resolveOptions(provider, options)
  const id = newId("s")
  const context = runtimeContext(config, { session: id, signal })
  // A fork that has sent nothing yet has no conversation of its own: its copy is one of the same conversation.
  const key = session.key ?? session.forkOf
  const start = { key, fork: key !== undefined, events, approved, system, context }
  const copy = await createCliConversation(provider, runtime ? { ...config, runtime: () => runtime } : config, start)
  const forked = forkSessionStorage(storage, { id, agent: config.name, events })
  const created = createCliSession(driver, copy, id, forked)
  if (forked) await copy.save?.(true)
  return created
}
