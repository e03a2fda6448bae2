// Declares the cases of a conformance suite as tests: one test for each promise.
import { ConfigError } from "../core/errors.ts"
import type { DeclareTest } from "../testing.ts"

interface Suite {
  test: DeclareTest
  /** The reason for each case that is skipped. */
  skip?: { [name: string]: string | undefined } | undefined
}

/** A case that needs an option which the suite does not have is skipped too. */
export function declareCases<Check extends { promise: string; needs?: string }>(
  suite: Suite,
  cases: { [name: string]: Check },
  run: (check: Check) => Promise<void>,
): void {
  const { test, skip = {}, ...options } = suite
  const unknown = Object.keys(skip).filter((name) => !(name in cases))
  if (unknown.length > 0) {
    throw new ConfigError(`No such case to skip: ${unknown.join(", ")}. There are: ${Object.keys(cases).join(", ")}.`)
  }
  for (const [name, check] of Object.entries(cases)) {
    const { promise, needs } = check
    const missing = needs && !Reflect.get(options, needs) ? `by design: the suite was given no "${needs}"` : undefined
    const reason = skip[name] ?? missing
    test(`${name}: ${promise}`, async (context) => {
      if (reason !== undefined) return void context.skip(reason)
      await run(check)
    })
  }
}
