import { existsSync, readdirSync, readFileSync } from "node:fs"
import { setTimeout as delay } from "node:timers/promises"

/** What processes that belong together have in common. */
export interface ProcessSet {
  /** The beginning of an entry of their environment. */
  marker: string
  groups: readonly ProcessGroup[]
}

/** A group of processes, which is a session as well. */
export interface ProcessGroup {
  id: number
  /** Whether its first process is still there: then the number is certainly its own. */
  hasLeader: boolean
}

/** Ends processes and all below them: asks them to, and after a while makes them. Resolves when none is left, or one that
 *  cannot be killed. Those that are to end at the same moment end together, for to look at all processes takes a while.
 *
 *  On Linux it finds those that left their group as well, by their session, their parents or their environment. A process
 *  that has left all three is not found. Elsewhere it ends groups. */
export type EndProcesses = (kin: () => ProcessSet) => Promise<void>

export function createProcessEnder(graceMs: number): EndProcesses {
  let gathering: { all: (() => ProcessSet)[]; ending: Promise<void> } | undefined
  async function endGathered(all: readonly (() => ProcessSet)[]): Promise<void> {
    // Whoever asks in this turn is in time.
    await Promise.resolve()
    gathering = undefined
    await endProcesses(() => all.map((kin) => kin()), graceMs)
  }
  return (kin) => {
    if (!gathering) {
      const all: (() => ProcessSet)[] = []
      gathering = { all, ending: endGathered(all) }
    }
    gathering.all.push(kin)
    return gathering.ending
  }
}

async function endProcesses(kin: () => ProcessSet[], graceMs: number): Promise<void> {
  const until = Date.now() + graceMs
  const asked = new Set<number>()
  for (let round = 0; Date.now() < until; await pauseBetweenRounds(round++)) {
    const found = findProcesses(kin())
    if (found.length === 0) return
    // Bubblewrap takes all that is in it with it, at once.
    for (const { id } of found.filter(({ id, name }) => name !== "bwrap" && !asked.has(id))) {
      sendSignal(id, "SIGTERM")
      asked.add(id)
    }
  }
  for (let round = 0; round < killRounds; await pauseBetweenRounds(round++)) {
    const groups = kin().flatMap(({ groups }) => groups)
    const found = findProcesses(kin())
    if (found.length === 0) return
    for (const { id } of groups) if (found.some(({ group }) => group === id)) sendSignal(-id, "SIGKILL")
    for (const { id } of found) sendSignal(id, "SIGKILL")
  }
}

/** Whether anybody is left in a group. */
export function isGroupAlive(id: number): boolean {
  return sendSignal(-id, 0)
}

interface FoundProcess {
  /** A process, or a group as a negative number. */
  id: number
  group: number
  name: string
}

interface Process extends FoundProcess {
  parent: number
  session: number
}

// Some four seconds: only a process that waits for a device takes that long.
const killRounds = 40

// Most are gone at once; to look at all processes takes some milliseconds.
function pauseBetweenRounds(round: number): Promise<void> {
  return delay(Math.min(10 * 1.5 ** round, 100))
}

function findProcesses(kin: readonly ProcessSet[]): FoundProcess[] {
  const groups = kin.flatMap(({ groups }) => groups)
  const all = listProcesses()
  if (!all) {
    return groups.filter(({ id }) => isGroupAlive(id)).map(({ id }) => ({ id: -id, group: id, name: "" }))
  }
  // The system gives a number away again only when nobody is left in its group: then a process has it.
  const taken = new Set(all.map(({ id }) => id))
  const sure = new Set(groups.filter(({ id, hasLeader: led }) => led || !taken.has(id)).map(({ id }) => id))
  const isMember = ({ group, session }: Process) => sure.has(group) || sure.has(session)
  const markers = kin.map(({ marker }) => `\0${marker}`)
  const carriesOne = (id: number) => {
    const environment = `\0${readIfExists(`/proc/${id}/environ`)}`
    return markers.some((marker) => environment.includes(marker))
  }
  const ours = new Set(all.filter((each) => isMember(each) || carriesOne(each.id)).map(({ id }) => id))
  for (let before = 0; before < ours.size; ) {
    before = ours.size
    for (const { id, parent } of all) if (ours.has(parent)) ours.add(id)
  }
  return all.filter(({ id }) => ours.has(id))
}

/** Every process but this one; undefined where the system does not tell. One that has ended and waits to be counted is none. */
function listProcesses(): Process[] | undefined {
  if (!existsSync("/proc/self/stat")) return undefined
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  return ids.map(Number).flatMap((id) => {
    if (id === process.pid) return []
    const [, name = "", rest = ""] = /^\d+ \((.*)\) (.*)/s.exec(readIfExists(`/proc/${id}/stat`)) ?? []
    const [state = "Z", parent, group, session] = rest.split(" ")
    if (rest === "" || state === "Z" || state === "X") return []
    return [{ id, name, parent: Number(parent), group: Number(group), session: Number(session) }]
  })
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, "latin1")
  } catch {
    // It has ended, or is another user's.
    return ""
  }
}

function sendSignal(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal)
  } catch {
    return false
  }
}
