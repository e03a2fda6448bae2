import { ConfigError } from "../core/errors.ts"
import type { Store } from "../stores/store.ts"
import type { DeclareTest } from "../testing.ts"
import { createStoreTrial, type StoreCheck } from "./store/store-case.ts"
import { commitCases } from "./store/store-commits.ts"
import { logCases } from "./store/store-logs.ts"
import { processCases } from "./store/store-processes.ts"
import { troubleCases } from "./store/store-troubles.ts"
import { valueCases } from "./store/store-values.ts"
import { watchCases } from "./store/store-watch.ts"
import { withTimeLimit } from "./time-limit.ts"

export interface StoreSuite {
  /** The test runner's own function. */
  test: DeclareTest
  /** Names a place where no store is yet. Each test asks for its own; cleaning up is the caller's. */
  place: () => string | Promise<string>
  /** Opens the store at a place. Opened twice, it is one store. */
  open: (place: string) => Store | Promise<Store>
  /** A module whose export `open` does the same, for other processes. */
  module?: string | URL | undefined
  /** Takes away what the store at a place needs, such as its server; gives the way back. */
  outage?: Trouble | undefined
  /** Leaves no room where the store at a place is; gives the way back. */
  fill?: Trouble | undefined
  /** Damages the store at a place, which nobody has open; gives the way back. */
  damage?: Trouble | undefined
  /** Cases this store does not pass, by name, and why. */
  skip?: { [C in StoreCase]?: string | undefined } | undefined
}

export type Trouble = (place: string) => Promise<() => Promise<void>>

/** The name of a case of `testStore`: the first word of its title. */
export type StoreCase = keyof typeof cases

/** Declares the tests that every store passes: what the `Store` contract promises, one test for each promise. */
export function testStore(suite: StoreSuite): void {
  const { test, skip = {} } = suite
  const unknown = Object.keys(skip).filter((name) => !(name in cases))
  if (unknown.length > 0) {
    throw new ConfigError(`No such case to skip: ${unknown.join(", ")}. There are: ${Object.keys(cases).join(", ")}.`)
  }
  for (const [name, { promise, needs, check }] of Object.entries<StoreCheck>(cases)) {
    const missing = needs && !suite[needs] ? `by design: the suite was given no "${needs}"` : undefined
    const reason = skip[name as StoreCase] ?? missing
    test(`${name}: ${promise}`, async (context) => {
      if (reason !== undefined) return void context.skip(reason)
      await using trial = await createStoreTrial(suite)
      await withTimeLimit(check(trial), 45_000)
    })
  }
}

const cases = { ...valueCases, ...commitCases, ...logCases, ...watchCases, ...processCases, ...troubleCases }
