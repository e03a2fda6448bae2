import { test } from "node:test"
import { testWorkspace } from "karst/testing"
import { myWorkspace } from "./my-workspace.ts"

testWorkspace({
  test,
  workspace: () => myWorkspace(),
  skip: { "path-taken": "by design: files and folders have separate names" },
})
