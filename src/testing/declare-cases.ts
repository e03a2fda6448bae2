// Declares the cases of a conformance suite as tests: one test for each promise.
import { ConfigError } from "../core/errors.ts"
import type { DeclareTest } from "../testing.ts"

interface SuiteOf<Check, Option extends string> {
  test: DeclareTest
  skip?: { [name: string]: string | undefined } | undefined
  cases: { [name: string]: Check }
  /** The options of the suite that the check of a case may need. */
  options?: { [O in Option]?: unknown }
  run(check: Check): Promise<void>
}

/** Skips a case that `skip` has a reason for, and a case that needs an option which the suite does not have. */
export function declareCases<Option extends string, Check extends { promise: string; needs?: Option }>({
  test,
  skip = {},
  cases,
  options = {},
  run,
}: SuiteOf<Check, Option>): void {
  const unknown = Object.keys(skip).filter((name) => !(name in cases))
  if (unknown.length > 0) {
    throw new ConfigError(`No such case to skip: ${unknown.join(", ")}. There are: ${Object.keys(cases).join(", ")}.`)
  }
  for (const [name, check] of Object.entries(cases)) {
    const { promise, needs } = check
    const missing = needs && !options[needs] ? `by design: the suite was given no "${needs}"` : undefined
    const reason = skip[name] ?? missing
    test(`${name}: ${promise}`, async (context) => {
      if (reason !== undefined) return void context.skip(reason)
      await run(check)
    })
  }
}
