// karst/workspaces: the files an agent works on.

export { localWorkspace } from "./workspaces/local.ts"
export { memoryWorkspace } from "./workspaces/memory.ts"
export { overlayWorkspace } from "./workspaces/overlay.ts"
export { readOnlyWorkspace } from "./workspaces/read-only.ts"
export type { S3Credentials, S3Options } from "./workspaces/s3/s3-options.ts"
export { s3Workspace } from "./workspaces/s3.ts"
export { scopedWorkspace } from "./workspaces/scoped.ts"
export type { FileData, FileInfo, Workspace } from "./workspaces/workspace.ts"
