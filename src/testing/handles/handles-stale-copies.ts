// Cases of the handle suite: copies written back after the host changed the field they were read from.
import assert from "node:assert/strict"
import { casesWith } from "./handles-case.ts"

const defineHostCase = casesWith({ host })

export const staleCopyCases = {
  148: defineHostCase("a copy of an earlier cell that overwrites changes of the host is named in the result", {
    typescript: [
      "const items = await $store.items\nconst counts = await $store.counts\nconst team = await $store.team",
      "await $store.add('host')",
      "items.push('cell')\n$store.items = items",
      "counts.set('z', 1)\n$store.counts = counts\nteam.pop()\n$store.team = team\nawait $store.items",
    ],
    python: [
      "items = $store.items\ncounts = $store.counts\nteam = $store.team",
      "$store.add('host')",
      "items.append('cell')\n$store.items = items",
      "counts['z'] = 1\n$store.counts = counts\nteam.pop()\n$store.team = team\n$store.items",
    ],
    value: ["a", "b", "cell"],
    hints: [/^store\.counts .*overwr.*[Rr]ead/, /^store\.team .*overwr.*[Rr]ead/],
    holds({ executions, host: { store } }) {
      assert.deepEqual(
        executions.map(({ hints }) => hints?.length ?? 0),
        [0, 0, 1, 2],
      )
      assert.match(executions[2]?.hints?.[0] ?? "", /\.items .*overwr/)
      assert.deepEqual([[...store.counts.keys()], store.team.length], [["x", "z"], 1])
    },
  }),
  149: defineHostCase("a copy that overwrites changes made since it was read in the same cell is named too", {
    typescript: "const items = await $store.items\nawait $store.add('host')\nitems.push('cell')\n$store.items = items",
    python: "items = $store.items\n$store.add('host')\nitems.append('cell')\n$store.items = items",
    hints: [/^store\.items .*overwr/],
    holds: ({ host: { store } }) => assert.deepEqual(store.items, ["a", "b", "cell"]),
  }),
  172: defineHostCase("a copy of a field that only cells changed is written back without a hint, any number of times", {
    typescript: [
      "const items = await $store.items\nconst nested = await $store.nested\nconst team = await $store.team",
      "items.push('c')\n$store.items = items\nitems.push('d')\n$store.items = items\nnested.a = -0\n$store.nested = nested",
      "items.push('e')\n$store.items = items\nnested.text = 'é\\u2028'\n$store.nested = nested\nteam.pop()\n$store.team = team",
      "const again = await $store.items\nagain.push('f')\n$store.items = again\nawait $store.items",
    ],
    python: [
      "items = $store.items\nnested = $store.nested\nteam = $store.team",
      "items.append('c')\n$store.items = items\nitems.append('d')\n$store.items = items\nnested['a'] = 1e-7\n$store.nested = nested",
      "items.append('e')\n$store.items = items\nnested['text'] = 'é\\u2028'\n$store.nested = nested\nteam.pop()\n$store.team = team",
      "again = $store.items\nagain.append('f')\n$store.items = again\n$store.items",
    ],
    value: ["a", "b", "c", "d", "e", "f"],
    holds({ executions, host: { store, kept } }) {
      assert.deepEqual(
        executions.flatMap(({ hints }) => hints ?? []),
        [],
      )
      assert.equal(store.items, kept)
    },
  }),
} as const

class Member {
  level = 1
  rise() {
    this.level++
  }
}

class Store {
  items = ["a", "b"]
  counts = new Map([["x", 1]])
  nested = { a: 1e-7, text: "é\u2028", self: undefined, big: 2n ** 70n, at: new Date(5), raw: new Uint8Array([1, 2]) }
  team = [new Member(), new Member()]
  add(item: string) {
    this.items.push(item)
    this.counts.set(item, 1)
    this.team.push(new Member())
  }
}

function host() {
  const store = new Store()
  return { store, kept: store.items }
}
