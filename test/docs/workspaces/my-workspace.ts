// Stands for a workspace that a reader wrote.
import { memoryWorkspace, type Workspace } from "karst/workspaces"

export const myWorkspace = (): Workspace => ({ ...memoryWorkspace() })
