// test lane: runtimes, long
import assert from "node:assert/strict"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { ConfigError } from "../../../src/core/errors.ts"
import { parseSignature } from "../../../src/runtime/declare/parse-signature.ts"
import { findInterpreter } from "../../../src/runtime/python/kernel/find-interpreter.ts"
import { createMessageCodec } from "../../../src/runtime/python/kernel/jupyter-messages.ts"
import { pythonNameProblem } from "../../../src/runtime/python/python-names.ts"
import { pythonSignature, schemaParameters, schemaPythonType } from "../../../src/runtime/python/python-types.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import { python, requires } from "../../system.ts"

describe("signatures in Python's words", () => {
  const cases: [string, string][] = [
    ["(name: string, count?: number) => Task", "(name: str, count: float = ...) -> Task"],
    [
      "(rows: string[][], by: Map<string, Task[]>) => void",
      "(rows: list[list[str]], by: dict[str, list[Task]]) -> None",
    ],
    [
      "(mode: 'a' | 'b' | null, ...rest: number[]) => Promise<boolean>",
      "(mode: Literal['a', 'b'] | None, *rest: float) -> bool",
    ],
    [
      "(at: Date, data: Uint8Array, f: (x: number) => string) => Record<string, unknown>",
      "(at: datetime, data: bytes, f: Callable) -> dict[str, Any]",
    ],
    [
      "(pair: [string, number], point: { x: number }, x: any) => bigint | undefined",
      "(pair: tuple[str, float], point: dict, x) -> int | None",
    ],
    [
      "(samples: Float64Array, s: Set<string>) => (string | number)[]",
      "(samples: numpy.ndarray, s: set[str]) -> list[str | float]",
    ],
  ]
  for (const [typescript, expected] of cases) {
    test(`${typescript} is ${expected}`, () => {
      assert.equal(pythonSignature(parseSignature(typescript, "f")), expected)
    })
  }

  test("JSON Schema has its words too", () => {
    assert.equal(schemaPythonType({ type: "array", items: { enum: ["a", 1, null] } }), 'list[Literal["a", 1, None]]')
    assert.equal(schemaPythonType({ anyOf: [{ type: "string" }, { type: "null" }] }), "str | None")
    const schema = { properties: { b: { type: "boolean" }, a: { type: "integer" } }, required: ["a"] }
    assert.deepEqual(schemaParameters(schema), ["a: int", "b: bool = ..."])
  })
})

describe("names of Python", () => {
  test("are identifiers, also beyond ASCII, that neither Python nor its shell keeps for itself", () => {
    for (const name of ["x", "größe", "_private", "camelCase"]) assert.equal(pythonNameProblem(name), undefined)
    for (const name of ["", "1a", "a-b", "None", "async", "__name__", "_", "_1", "In", "a b"]) {
      assert.notEqual(pythonNameProblem(name), undefined, name)
    }
  })
})

describe("messages of the Jupyter protocol", () => {
  test("are read only with the right signature", () => {
    const { pack, unpack } = createMessageCodec("key", "session")
    const { id, frames } = pack("execute_request", { code: "1" })
    const routed = [Buffer.from("router"), ...frames]
    assert.deepEqual(unpack(routed), { type: "execute_request", parent: "", content: { code: "1" } })
    assert.match(id, /^[\da-f-]{36}$/)
    const forged = frames.map((frame, at) => (at === 5 ? Buffer.from('{"code":"2"}') : frame))
    assert.equal(unpack(forged), undefined)
    assert.equal(createMessageCodec("other", "session").unpack(frames), undefined)
    for (const broken of [[], frames.slice(0, 3), [Buffer.from("x")]]) assert.equal(unpack(broken), undefined)
  })
})

describe("the search for an interpreter", { skip: requires("python") }, () => {
  const folder = mkdtempSync(join(tmpdir(), "karst-python-"))
  after(() => rmSync(folder, { recursive: true, force: true }))

  test("passes by those that have no ipykernel or do not run", async () => {
    const bare = join(folder, "python3")
    writeFileSync(bare, `#!/bin/sh\necho '{"kernel": false, "version": "3.99.0"}'\n`)
    chmodSync(bare, 0o755)
    const broken = join(folder, "python")
    writeFileSync(broken, "#!/bin/sh\necho no >&2; exit 1\n")
    chmodSync(broken, 0o755)
    const { PATH } = process.env
    process.env.PATH = `${folder}:${PATH}`
    try {
      assert.notEqual((await findInterpreter()).executable, bare)
    } finally {
      process.env.PATH = PATH
    }
    await assert.rejects(findInterpreter(bare), /3\.99\.0 without ipykernel.*pip install ipykernel.*KARST_PYTHON/s)
    await assert.rejects(findInterpreter(broken), /cannot be run \(no\)/)
  })

  test("takes KARST_PYTHON at its word", async () => {
    process.env.KARST_PYTHON = join(folder, "nowhere")
    try {
      await using runtime = pythonRuntime()
      await assert.rejects(runtime.execute("1"), (error: unknown) => {
        assert.ok(error instanceof ConfigError)
        assert.match(error.message, /nowhere: not there/)
        return true
      })
    } finally {
      delete process.env.KARST_PYTHON
    }
    assert.match((await findInterpreter(python())).version, /^3\./)
  })
})
