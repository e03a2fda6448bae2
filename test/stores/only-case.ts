import { test } from "node:test"
import type { DeclareTest } from "karst/testing"

/** Declares one case of a suite, and none of the others. */
export function only(name: string): DeclareTest {
  return (title, body) => {
    if (title.startsWith(`${name}:`)) test(title, body)
  }
}
