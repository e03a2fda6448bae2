import { ConfigError } from "../core/errors.ts"
import type { DeclareTest } from "../testing.ts"
import type { Workspace } from "../workspaces/workspace.ts"
import type { WorkspaceCheck } from "./workspace/workspace-case.ts"
import { changeCases } from "./workspace/workspace-changes.ts"
import { fileCases } from "./workspace/workspace-files.ts"
import { pathCases } from "./workspace/workspace-paths.ts"

export interface WorkspaceSuite {
  /** The test runner's own function. */
  test: DeclareTest
  /** Makes a new workspace with nothing in it. Each test makes its own; cleaning up is the caller's. */
  workspace: () => Workspace | Promise<Workspace>
  /** Cases this workspace does not pass, by name, and why. */
  skip?: { [C in WorkspaceCase]?: string | undefined } | undefined
}

/** The name of a case of `testWorkspace`: the first word of its title. */
export type WorkspaceCase = keyof typeof cases

/** Declares the tests that every workspace passes: what the `Workspace` contract promises, one test for each promise. */
export function testWorkspace({ test, workspace, skip = {} }: WorkspaceSuite): void {
  const unknown = Object.keys(skip).filter((name) => !(name in cases))
  if (unknown.length > 0) {
    throw new ConfigError(`No such case to skip: ${unknown.join(", ")}. There are: ${Object.keys(cases).join(", ")}.`)
  }
  for (const [name, { promise, check }] of Object.entries<WorkspaceCheck>(cases)) {
    const reason = skip[name as WorkspaceCase]
    test(`${name}: ${promise}`, async (context) => {
      if (reason !== undefined) return void context.skip(reason)
      await check(await workspace())
    })
  }
}

const cases = { ...fileCases, ...pathCases, ...changeCases }
