// The backend of the conformance test in docs/scaling.md: it opens the queue of a folder, also in other processes.
export { open } from "../../fixtures/backends/bullmq.ts"
