// The conformance suite for stores.
import { checkOptionNames } from "../core/checks/check-options.ts"
import type { Store } from "../stores/store.ts"
import type { DeclareTest } from "../testing.ts"
import { declareCases } from "./declare-cases.ts"
import { createStoreTrial, type StoreCheck } from "./store/store-case.ts"
import { commitCases } from "./store/store-commits.ts"
import { logCases } from "./store/store-logs.ts"
import { processCases } from "./store/store-processes.ts"
import { troubleCases } from "./store/store-troubles.ts"
import { valueCases } from "./store/store-values.ts"
import { watchCases } from "./store/store-watch.ts"
import { withTimeLimit } from "./time-limit.ts"

export interface StoreSuite {
  /** The `test` function of the test runner. */
  test: DeclareTest
  /** Returns a location where no store exists. Each test asks for its own; the caller cleans up. */
  location: () => string | Promise<string>
  /** Opens the store at a location. Opening it twice gives access to the same store. */
  open: (location: string) => Store | Promise<Store>
  /** A module whose export `open` does the same, for other processes. */
  module?: string | URL | undefined
  /** Makes something unavailable that the store needs, such as its server; returns a function that undoes it. */
  outage?: Trouble | undefined
  /** Fills up the storage of the store at a location; returns a function that undoes it. */
  fill?: Trouble | undefined
  /** Damages the store at a location while it is not open; returns a function that undoes it. */
  damage?: Trouble | undefined
  /** Cases this store does not pass, by name, with the reason. */
  skip?: { [C in StoreCase]?: string | undefined } | undefined
}

export type Trouble = (location: string) => Promise<() => Promise<void>>

/** The name of a case of `testStore`: the first word of its title. */
export type StoreCase = keyof typeof cases

/** Declares the conformance tests of the `Store` contract, one test per promise. */
export function testStore(suite: StoreSuite): void {
  checkOptionNames("testStore()", suite, "test", "location", "open", "module", "outage", "fill", "damage", "skip")
  declareCases<StoreCheck>(suite, cases, async ({ check }) => {
    await using trial = await createStoreTrial(suite)
    await withTimeLimit(check(trial), 45_000)
  })
}

const cases = { ...valueCases, ...commitCases, ...logCases, ...watchCases, ...processCases, ...troubleCases }
