import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { classType, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { requires } from "../../system.ts"
import { declared } from "./declare-text.ts"

class Vault {
  size = 3
  wipe(_why: string, _times = 1): number {
    return this.size
  }
  list() {
    return ["a"]
  }
}

const vaultSource = `class Vault {
  size: number
  /** Removes everything. */
  wipe(why: string, times?: number): number { return 0 }
  list(): string[] { return [] }
}`

const guard = { wipe: { approve: true } }

describe("a guarded method is declared with its author's types and a Promise", () => {
  test("in an object type that its author wrote", () => {
    const vault = variable(new Vault(), { type: "{ size: number; wipe(why: string, times?: number): number }", guard })
    assert.equal(
      declared({ vault }),
      "declare const vault: { size: number; wipe(why: string, times?: number): Promise<number> }",
    )
  })

  test("in a field of a function type", () => {
    const vault = variable(new Vault(), { type: "{ wipe: (why: string) => Promise<number> }", guard })
    assert.equal(declared({ vault }), "declare const vault: { wipe(why: string): Promise<number> }")
  })

  test("in a class with its source, by the name of the binding and by the class of the value", () => {
    const bindings = { Vault: classType(Vault, { source: vaultSource }) }
    for (const vault of [variable(new Vault(), { guard }), variable(new Vault(), { type: "Vault", guard })]) {
      const text = declared({ ...bindings, vault })
      const shown = "{\n  /** Removes everything. */\n  wipe(why: string, times?: number): Promise<number>\n} & Vault"
      assert.ok(text.endsWith(`declare const vault: ${shown}`), text)
    }
  })

  test("in an interface given in full", () => {
    const vault = variable(new Vault(), { type: "interface Safe { wipe(why: string): number }", guard })
    assert.equal(
      declared({ vault }),
      "interface Safe { wipe(why: string): number }\ndeclare const vault: { wipe(why: string): Promise<number> } & Safe",
    )
  })

  test("with each of its overloads", () => {
    const vault = variable(new Vault(), { type: "{ wipe(): void; wipe(why: string): number }", guard })
    assert.equal(
      declared({ vault }),
      "declare const vault: { wipe(): Promise<void>; wipe(why: string): Promise<number> }",
    )
  })

  test("and by inspection where its author wrote nothing", () => {
    const text = declared({ vault: variable(new Vault(), { guard }) })
    assert.match(text, /^declare const vault: \{ wipe\(_why\?: unknown, _times\?: number\): Promise<any> \} & Vault$/m)
  })
})

test("no declaration and no finding about a guarded object has an Omit", {
  skip: requires("typescript") ?? false,
}, async () => {
  await using runtime = jsRuntime({
    Vault: classType(Vault, { source: vaultSource }),
    vault: variable(new Vault(), { guard }),
  })
  assert.doesNotMatch(await runtime.describe(), /Omit</)
  const cells = {
    "await vault.wype('a')": /Property 'wype' does not exist .*Did you mean 'wipe'/,
    "vault.sise": /Property 'sise' does not exist/,
    "await vault.wipe()": /Expected 1-2 arguments, but got 0/,
    "await vault.wipe('a', 1, 2)": /Expected 1-2 arguments, but got 3/,
    "vault.wipe('a').toFixed()": /await/,
  }
  for (const [code, expected] of Object.entries(cells)) {
    const execution = await runtime.execute(code, { typeGate: "block" })
    assert.ok(!execution.ok && execution.error.kind === "type", code)
    assert.match(execution.error.message, expected)
    assert.doesNotMatch(execution.error.message, /Omit</)
  }
})
