// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, fn, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"
import { hashArguments } from "../../../src/engine/journal/call-hash.ts"

class Account {
  paid = 0
  name: string
  constructor(name: string) {
    this.name = name
  }
}

const code = `const picks = {
  a: () => a,
  b: () => b,
  "bank.accounts[0]": () => bank.accounts[0],
  "bank.accounts[1]": () => bank.accounts[1],
  "bank.byName.get('m')": () => bank.byName.get("m"),
  "find('a')": () => find("a"),
}
await pay(picks[await pick()](), { amount: 5 })`

/** A run whose cell pays from the account that `picks` names, the first time it is run and the second. */
async function rerun(picks: [string, string], { holdMs = 0 } = {}) {
  const store = memoryStore()
  const paid: string[] = []
  let cells = 0
  const agent = createAgent({
    model: scriptedModel([`\`\`\`ts\n${code}\n\`\`\``, "Paid."]),
    runtime: () => {
      const [a, b] = [new Account("a"), new Account("b")]
      return jsRuntime({
        a,
        b,
        bank: { accounts: [new Account("x"), new Account("y")], byName: new Map([["m", new Account("m")]]) },
        find: fn((name: string) => new Account(name), { journal: false, sync: true }),
        pick: fn(() => picks[Math.min(cells++, 1)], { journal: false }),
        pay: fn((from: Account, { amount }: { amount: number }) => paid.push(`${from.name} ${amount}`), {
          approve: true,
        }),
      })
    },
  })
  const first = createEngine({ agents: { agent }, store, holdMs })
  const { id } = await first.submit("agent", "Go")
  const { pending } = await first.result(id)
  assert.ok(pending?.kind === "approval")
  await first.close()
  await using second = createEngine({ agents: { agent }, store, holdMs })
  await second.approve(id, pending.id, "allow")
  const result = await second.result(id)
  let reason: string | undefined
  for await (const event of second.watch(id)) {
    if (event.type !== "approval-requested") continue
    reason = event.reason
    break
  }
  return { paid, result, reason, first: pending }
}

describe("an approval of a durable run counts after a re-run", () => {
  for (const name of ["a", "bank.accounts[1]", "bank.byName.get('m')"]) {
    test(`for the same named object: ${name}`, async () => {
      const { paid, result } = await rerun([name, name])
      assert.equal(result.status, "done")
      assert.equal(paid.length, 1)
    })
  }

  for (const picks of [
    ["b", "a"],
    ["bank.accounts[1]", "bank.accounts[0]"],
    ["bank.byName.get('m')", "a"],
  ] satisfies [string, string][]) {
    test(`not for another one: ${picks.join(", then ")}`, async () => {
      const { paid, result, first } = await rerun(picks)
      assert.equal(result.status, "waiting")
      assert.notEqual(result.pending?.id, first.id)
      assert.deepEqual(paid, [])
    })
  }

  test("not for an object without a name, which is asked about again and told so", async () => {
    const { paid, result, reason } = await rerun(["find('a')", "find('a')"])
    assert.equal(result.status, "waiting")
    assert.deepEqual(paid, [])
    assert.match(String(reason), /object without a name/)
  })
})

test("an object without a name is paid from when the answer comes while the cell is held", async () => {
  const paid: string[] = []
  const agent = createAgent({
    model: scriptedModel(["```ts\nawait pay({ from: find('z') })\n```", "Paid."]),
    runtime: () =>
      jsRuntime({
        find: fn((name: string) => new Account(name), { sync: true }),
        pay: fn(({ from }: { from: Account }) => paid.push(from.name), { approve: true }),
      }),
  })
  await using engine = createEngine({ agents: { agent }, store: memoryStore() })
  const { id } = await engine.submit("agent", "Go")
  let pending: string | undefined
  while (pending === undefined) {
    await new Promise((resolve) => setImmediate(resolve))
    pending = (await engine.get(id))?.pending?.id
  }
  await engine.approve(id, pending, "allow")
  assert.equal((await engine.result(id)).status, "done")
  assert.deepEqual(paid, ["z"])
})

test("every plain argument counts, whatever opaque ones are beside it", () => {
  const account = new Account("a")
  const nameOf = (value: object) => (value === account ? "account" : undefined)
  const hash = (...args: unknown[]) => hashArguments({ args, nameOf }).hash
  assert.notEqual(hash(account, 5), hash(account, 6))
  assert.notEqual(hash({ deep: [account, { amount: 5 }] }), hash({ deep: [account, { amount: 6 }] }))
  assert.notEqual(
    hash(() => 1, 5),
    hash(() => 1, 6),
  )
  assert.equal(hash(account, 5), hash(account, 5))
  assert.deepEqual(
    [[account], [{ account }], [new Account("b")], [[() => 1]]].map(
      (args) => hashArguments({ args, nameOf }).hasUnnamed,
    ),
    [false, false, true, true],
  )
})
