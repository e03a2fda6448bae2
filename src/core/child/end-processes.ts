// Ends a process together with everything it started, also processes that left its group (Linux).
import { setTimeout as delay } from "node:timers/promises"
import { attempt } from "../attempt.ts"
import { listProcesses, type ProcessInfo, readProcFile } from "./process-tree.ts"

/** Describes processes that belong together. */
export interface ProcessSet {
  /** The start of an entry in their environment, by which they are recognised. */
  marker: string
  groups: readonly ProcessGroup[]
}

/** A process group that is also a session. */
export interface ProcessGroup {
  id: number
  /** True while its first process is alive. Only then is the group id certain not to be reused. */
  hasLeader: boolean
}

/** Returns a function that ends processes and their descendants: it sends SIGTERM, and SIGKILL after a grace period. It
 *  resolves when none is left, or after the kill rounds. Requests made in the same turn are handled together, because
 *  listing all processes is slow.
 *  On Linux it also finds processes that left their group: by session, parent or environment. A process that changed
 *  all three is not found. On other systems it ends process groups only. */
export function createProcessEnder(graceMs: number): (getSet: () => ProcessSet) => Promise<void> {
  let gathering: { all: (() => ProcessSet)[]; ending: Promise<void> } | undefined
  async function endGathered(all: readonly (() => ProcessSet)[]): Promise<void> {
    // Requests made in the same turn are handled together.
    await Promise.resolve()
    gathering = undefined
    await endProcesses(() => all.map((getSet) => getSet()), graceMs)
  }
  return (getSet) => {
    if (!gathering) {
      const all: (() => ProcessSet)[] = []
      gathering = { all, ending: endGathered(all) }
    }
    gathering.all.push(getSet)
    return gathering.ending
  }
}

async function endProcesses(getSets: () => ProcessSet[], graceMs: number): Promise<void> {
  const until = Date.now() + graceMs
  const asked = new Set<number>()
  for (let round = 0; Date.now() < until; await pauseBetweenRounds(round++)) {
    const found = findProcesses(getSets())
    if (found.length === 0) return
    // Ending bubblewrap would kill everything inside it immediately, without a grace period.
    for (const { id } of found.filter(({ id, name }) => name !== "bwrap" && !asked.has(id))) {
      sendSignal(id, "SIGTERM")
      asked.add(id)
    }
  }
  for (let round = 0; round < killRounds; await pauseBetweenRounds(round++)) {
    const groups = getSets().flatMap(({ groups }) => groups)
    const found = findProcesses(getSets())
    if (found.length === 0) return
    for (const { id } of groups) if (found.some(({ group }) => group === id)) sendSignal(-id, "SIGKILL")
    for (const { id } of found) sendSignal(id, "SIGKILL")
  }
}

/** Returns the environment variable that gives processes a marker. */
export function markerVariable(marker: string): Record<string, string> {
  const [name = "", value = ""] = marker.split("=")
  return { [name]: value }
}

/** Returns true if any process is left in a group. */
export function isGroupAlive(id: number): boolean {
  return sendSignal(-id, 0)
}

/** The id is that of a process, or of a group as a negative number. */
type FoundProcess = Pick<ProcessInfo, "id" | "group" | "name">

// About four seconds. Only a process that waits for a device takes that long.
const killRounds = 40

// Most processes end immediately, and listing all processes takes some milliseconds.
function pauseBetweenRounds(round: number): Promise<void> {
  return delay(Math.min(10 * 1.5 ** round, 100))
}

function findProcesses(sets: readonly ProcessSet[]): FoundProcess[] {
  const groups = sets.flatMap(({ groups }) => groups)
  const all = listProcesses()
  if (!all) {
    return groups.filter(({ id }) => isGroupAlive(id)).map(({ id }) => ({ id: -id, group: id, name: "" }))
  }
  // A group id is reused only after the group is empty. If a process has that id, the group may be someone else's.
  const taken = new Set(all.map(({ id }) => id))
  const sure = new Set(groups.filter(({ id, hasLeader: led }) => led || !taken.has(id)).map(({ id }) => id))
  const isMember = ({ group, session }: ProcessInfo) => sure.has(group) || sure.has(session)
  const markers = sets.map(({ marker }) => `\0${marker}`)
  const carriesOne = (id: number) => {
    const environment = `\0${readProcFile(`/proc/${id}/environ`)}`
    return markers.some((marker) => environment.includes(marker))
  }
  const ours = new Set(all.filter((each) => isMember(each) || carriesOne(each.id)).map(({ id }) => id))
  for (let before = 0; before < ours.size; ) {
    before = ours.size
    for (const { id, parent } of all) if (ours.has(parent)) ours.add(id)
  }
  return all.filter(({ id }) => ours.has(id))
}

function sendSignal(id: number, signal: NodeJS.Signals | 0): boolean {
  return attempt(() => process.kill(id, signal)) ?? false
}
