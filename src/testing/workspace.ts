// The conformance suite for workspaces.
import { checkOptionNames } from "../core/checks/check-options.ts"
import type { DeclareTest } from "../testing.ts"
import type { Workspace } from "../workspaces/workspace.ts"
import { declareCases } from "./declare-cases.ts"
import { changeCases } from "./workspace/workspace-changes.ts"
import { fileCases } from "./workspace/workspace-files.ts"
import { pathCases } from "./workspace/workspace-paths.ts"

export interface WorkspaceSuite {
  /** The `test` function of the test runner. */
  test: DeclareTest
  /** Creates a new, empty workspace. Each test creates its own; the caller cleans up. */
  workspace: () => Workspace | Promise<Workspace>
  /** Cases this workspace does not pass, by name, with the reason. */
  skip?: { [C in WorkspaceCase]?: string | undefined } | undefined
}

/** The name of a case of `testWorkspace`: the first word of its title. */
export type WorkspaceCase = keyof typeof cases

/** Declares the conformance tests of the `Workspace` contract, one test per promise. */
export function testWorkspace(suite: WorkspaceSuite): void {
  checkOptionNames("testWorkspace()", suite, "test", "workspace", "skip")
  declareCases(suite, cases, async ({ check }) => check(await suite.workspace()))
}

const cases = { ...fileCases, ...pathCases, ...changeCases }
