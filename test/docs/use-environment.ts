// Sets environment variables for a test, for snippets of pages that read `process.env` themselves.
import type { TestContext } from "node:test"

/** Sets the variables until the test ends. `undefined` removes one. */
export function useEnvironment(t: TestContext, variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) {
    const before = process.env[name]
    set(name, value)
    t.after(() => set(name, before))
  }
}

function set(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}
