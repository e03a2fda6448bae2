// test lane: durable
import { describe, test } from "node:test"
import { testStore } from "karst/testing"
import { memoryStore } from "../../src/stores/memory-store.ts"

const alone = "by design: a memory store is opened once, by making it"

describe("memoryStore", () => {
  testStore({
    test,
    location: () => "memory",
    open: () => memoryStore(),
    skip: { restart: alone, claim: alone, "watch-elsewhere": alone },
  })
})
