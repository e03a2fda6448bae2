// Cases of the handle suite: a guarded method is guarded however a cell obtains it.
import assert from "node:assert/strict"
import { type MethodGuard, variable } from "../../runtime/bindings.ts"
import type { CallGate } from "../../runtime/runtime.ts"
import { type CaseOutcome, casesWith, defineCase } from "./handles-case.ts"

const guard = { wipe: { approve: true, maxCalls: 2 } } satisfies MethodGuard<Disk>

const defineGuardedCase = casesWith(guarded())

export const guardCases = {
  270: defineGuardedCase("the gate receives the options of a guarded method, and of no other method", {
    typescript: "await $disk.read()\nawait $disk.wipe(1)",
    value: "wiped 1",
    holds({ calls }) {
      assert.deepEqual(
        calls.map(({ binding, method, approve, maxCalls }) => [binding, method, approve, maxCalls]),
        [
          ["disk", "read", false, undefined],
          ["disk", "wipe", true, 2],
        ],
      )
    },
  }),
  271: defineGuardedCase("a guarded method that was read off is guarded", {
    typescript: "const wipe = $disk.wipe\nawait wipe(1)",
    python: "wipe = $disk.wipe\nwipe(1)",
    value: "wiped 1",
    holds: asksForWipe,
  }),
  272: defineGuardedCase("a guarded method under another name in a cell's object is guarded", {
    typescript: "const tools = { harmless: $disk.wipe }\nawait tools.harmless(1)",
    python: "tools = {'harmless': $disk.wipe}\ntools['harmless'](1)",
    value: "wiped 1",
    holds: asksForWipe,
  }),
  273: defineGuardedCase("a guarded method that is stored in a field of the host is guarded when the host calls it", {
    typescript: "$button.handler = $disk.wipe\nawait $button.press(1)",
    value: "wiped 1",
    holds: asksForWipe,
  }),
  274: defineGuardedCase("a guarded method that is stored in a field and read back is guarded", {
    typescript: "$button.handler = $disk.wipe\nconst back = await $button.handler\nawait back(1)",
    python: "$button.handler = $disk.wipe\nback = $button.handler\nback(1)",
    value: "wiped 1",
    holds: asksForWipe,
  }),
  275: defineGuardedCase("a guarded method that is passed to a host function is guarded when the host calls it", {
    typescript: "await $run($disk.wipe)",
    value: "wiped 1",
    holds: asksForWipe,
  }),
  276: defineGuardedCase("a guarded method that is called with new is refused or guarded", {
    typescript: "let made = null\ntry { made = await new $disk.make(1) } catch {}\nmade !== null",
    notApplicable: { python: "Python has no new" },
    holds({ calls, last }) {
      assert.ok(last.ok)
      assert.deepEqual(
        calls.map(({ approve }) => approve),
        last.value === true ? [true] : [],
      )
    },
  }),
  277: defineGuardedCase("a guarded method is guarded when it is reached through a Proxy of its object", {
    typescript: "await $mirror.wipe(1)",
    value: "wiped 1",
    holds: asksForWipe,
  }),
  278: defineCase("a guard on a Proxy guards the methods that are called through it", {
    host: () => ({ disk: new Proxy(new Disk(), {}) }),
    inject: ({ disk }) => ({ disk: variable(disk, { guard }) }),
    typescript: "await $disk.wipe(1)",
    value: "wiped 1",
    holds: asksForWipe,
  }),
  279: defineGuardedCase("a guarded object is guarded under its second name", {
    typescript: "await $second.wipe(1)",
    value: "wiped 1",
    holds: asksForWipe,
  }),
  280: defineGuardedCase("a guarded object is guarded where it is inside data or another object", {
    typescript: "await $house.disk.wipe(1)\nawait $disks[0].wipe(2)",
    holds({ calls }) {
      assert.deepEqual(
        calls.map(({ method, approve }) => [method, approve]),
        [
          ["wipe", true],
          ["wipe", true],
        ],
      )
    },
  }),
  281: defineCase("two guards of one object merge, and the stricter rule wins", {
    host: () => ({ disk: new Disk() }),
    inject: ({ disk }) => ({
      lax: variable(disk, { guard: { wipe: { approve: false, maxCalls: 5 } } }),
      strict: variable(disk, { guard: { wipe: { approve: true, maxCalls: 1 } } }),
      last: variable(disk, { guard: { wipe: { maxCalls: 9 }, read: { approve: true } } }),
    }),
    typescript: "await $lax.wipe(1)\nawait $last.wipe(2)\nawait $strict.read()",
    holds({ calls }) {
      assert.deepEqual(
        calls.map(({ method, approve, maxCalls }) => [method, approve, maxCalls]),
        [
          ["wipe", true, 1],
          ["wipe", true, 1],
          ["read", true, undefined],
        ],
      )
    },
  }),
  282: defineGuardedCase("an own function that is guarded is guarded when it is called by itself", {
    typescript: "const format = await $driver.format\nawait format(1)",
    python: "format = $driver.format\nformat(1)",
    value: "formatted 1",
    holds: ({ calls }) => assert.deepEqual([calls.length, calls[0]?.approve], [1, true]),
  }),
  283: defineGuardedCase(
    "a guarded method that a host method returns bound to its object is guarded by its own function",
    {
      typescript: "const own = await $driver.own()\nawait own(1)",
      python: "own = $driver.own()\nown(1)",
      value: "formatted 1",
      holds: ({ calls }) => assert.equal(calls.at(-1)?.approve, true),
    },
  ),
  284: defineGuardedCase(
    "the gate that refuses a guarded method keeps it from being called in every one of these ways",
    {
      gate: refuseApprovals,
      typescript: [
        "await $disk.wipe(1)",
        "const wipe = $disk.wipe\nawait wipe(1)",
        "await [$disk.wipe].map((each) => each(1))[0]",
        "$button.handler = $disk.wipe\nawait $button.press(1)",
        "await $run($disk.wipe)",
        "await $mirror.wipe(1)",
        "await $second.wipe(1)",
        "await $house.disk.wipe(1)",
        "await $disk.wipe.call($disk, 1)",
        "await Reflect.apply($disk.wipe, $other, [1])",
        "const bound = $disk.wipe.bind(null, 1)\nawait bound()",
      ],
      python: [
        "$disk.wipe(1)",
        "wipe = $disk.wipe\nwipe(1)",
        "[each(1) for each in [$disk.wipe]]",
        "$button.handler = $disk.wipe\n$button.press(1)",
        "$run($disk.wipe)",
        "$mirror.wipe(1)",
        "$second.wipe(1)",
        "$house.disk.wipe(1)",
        "import functools\nfunctools.partial($disk.wipe, 1)()",
        "list(map($disk.wipe, [1]))",
        "getattr($disk, 'wipe')(1)",
      ],
      errors: /not approved/,
      holds: ({ host: { disk } }) => assert.deepEqual(disk.wiped, []),
    },
  ),
  285: defineGuardedCase("a guarded object that is injected later under another name is guarded at its first call", {
    typescript: "1",
    async holds(outcome) {
      const { runtime, nameOf, run, host } = outcome
      const name = nameOf("late")
      await runtime.inject({ [name]: [host.disk] })
      await run({ typescript: `await ${name}[0].wipe(1)`, python: `${name}[0].wipe(1)` })
      asksForWipe(outcome)
    },
  }),
} as const

class Disk {
  wiped: number[] = []
  read() {
    return "data"
  }
  wipe(n: number) {
    this.wiped.push(n)
    return `wiped ${n}`
  }
  make = function make(this: object, n: number) {
    Object.assign(this, { n, use: () => n })
  }
}

class Button {
  handler: ((n: number) => unknown) | undefined = undefined
  press(n: number) {
    return this.handler?.(n)
  }
}

function guarded() {
  return {
    host: () => {
      const disk = new Disk()
      const format = (n: number) => `formatted ${n}`
      const house = { enter: () => 1, disk }
      const driver = { format, own: () => format }
      const run = (call: (n: number) => unknown) => call(1)
      return { disk, button: new Button(), mirror: new Proxy(disk, {}), other: new Disk(), house, driver, run }
    },
    inject: ({ disk, driver, ...others }: { disk: Disk; driver: { format: (n: number) => string } }) => ({
      disk: variable(disk, { guard: { ...guard, make: { approve: true } } }),
      driver: variable(driver, { guard: { format: { approve: true } } }),
      ...others,
      second: disk,
      disks: [disk],
    }),
  }
}

function asksForWipe({ calls }: Pick<CaseOutcome, "calls">): void {
  const wipes = calls.filter(({ method }) => method === "wipe")
  assert.deepEqual(
    wipes.map(({ approve, maxCalls, args }) => [approve, maxCalls, args]),
    [[true, 2, [1]]],
  )
}

function refuseApprovals(...[call, next]: Parameters<CallGate>): Promise<unknown> {
  return call.approve ? Promise.reject(new Error("not approved")) : next()
}
