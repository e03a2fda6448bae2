// karst/sessions: stored sessions, trajectories and their export.

export type { QueuedRun } from "./core/agent.ts"
export { type RunRecord, type Trajectory, trajectory } from "./core/trajectory.ts"
export { type Atif, type AtifStep, toAtif } from "./sessions/atif.ts"
export { loadSession } from "./sessions/load-session.ts"
export type { SessionOf } from "./sessions/session.ts"
export {
  type ArchiveOptions,
  type ArchiveSource,
  deleteSession,
  listSessions,
  type SessionInfo,
} from "./sessions/session-archive.ts"
