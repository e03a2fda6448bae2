import { describe } from "node:test"
import { jsRuntime } from "karst"
import { testChangedData } from "./changed-data-cases.ts"
import { changedDataInTypeScript } from "./changed-data-code.ts"

describe("a session that is resumed with other data, in jsRuntime", () =>
  testChangedData({ create: (bindings) => jsRuntime(bindings), code: changedDataInTypeScript }))
