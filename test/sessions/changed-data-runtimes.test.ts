// test lane: runtimes, long
import { describe } from "node:test"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { testChangedData } from "./changed-data-cases.ts"
import { changedDataInPython, changedDataInTypeScript } from "./changed-data-code.ts"

describe("a session that is resumed with other data, in processRuntime", () =>
  testChangedData({
    create: (bindings) => processRuntime(bindings, { isolation: "process" }),
    code: changedDataInTypeScript,
  }))

describe("a session that is resumed with other data, in pythonRuntime", () =>
  testChangedData({
    create: (bindings) => pythonRuntime(bindings, { isolation: "process" }),
    code: changedDataInPython,
  }))
