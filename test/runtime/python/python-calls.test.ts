// test lane: runtimes, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { fn } from "../../../src/runtime/bindings.ts"
import type { CallGate, RuntimeCall } from "../../../src/runtime/runtime.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { requires } from "../../system.ts"
import { sharedRuntime } from "./shared-kernel.ts"

class Account {
  balance = 10
  readonly #log: string[] = []
  deposit(amount: number) {
    this.#log.push(`+${amount}`)
    this.balance += amount
    return this.balance
  }
  get history() {
    return [...this.#log]
  }
  async later() {
    return this
  }
  *[Symbol.iterator]() {
    yield* this.#log
  }
}

describe("the host's functions in Python", { skip: requires("python") }, () => {
  class NoSuchTask extends Error {
    override name = "NoSuchTask"
  }
  const thrown = new NoSuchTask("no task 7")
  const runtime = sharedRuntime({
    add: (a: number, b = 1) => a + b,
    greet: fn((name: string, { loud = false } = {}) => (loud ? name.toUpperCase() : name), {
      signature: "(name: string, options?: { loud?: boolean }) => string",
    }),
    find: fn(({ city, limit = 3 }: { city: string; limit?: number }) => `${city} ${limit}`, {
      input: {
        type: "object",
        properties: { city: { type: "string" }, limit: { type: "integer" } },
        required: ["city"],
      },
    }),
    fail: () => {
      throw thrown
    },
    tooFar: () => {
      throw new RangeError("too far")
    },
    slow: async (name: string) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      return name
    },
    service: { prefix: ">", say: (text: string) => `> ${text}` },
    twice: async (callback: (n: number) => Promise<number>) => (await callback(1)) + (await callback(2)),
    odd: () => Symbol("x"),
    broken: () => {
      throw new Error("plain")
    },
    opaque: () => {
      throw Object.create(null)
    },
    gated: fn(() => "done", { approve: true }),
    written: (value: unknown) => JSON.stringify(value),
    make: () => (n: number) => n * 2,
  })

  test("take keywords by the names of their parameters", async () => {
    assert.equal(await runtime.value("add(b=5, a=1)"), 6)
    assert.equal(await runtime.value("add(1)"), 2)
    assert.equal(await runtime.value("greet('ada', options={'loud': True})"), "ADA")
    assert.equal(await runtime.value("find(city='Bern', limit=2)"), "Bern 2")
    assert.match((await runtime.failed("add(1, c=2)")).error.message, /unexpected keyword argument 'c'; it takes a, b/)
    assert.match((await runtime.failed("add(1, a=2)")).error.message, /multiple values for argument 'a'/)
  })

  test("have their input validated", async () => {
    assert.match((await runtime.failed("find(limit=2)")).error.message, /Invalid input of find.*city/)
  })

  test("may be awaited, and then run beside each other", async () => {
    assert.equal(await runtime.value("await slow('a')"), "a")
    assert.deepEqual(await runtime.value("import asyncio\nawait asyncio.gather(slow.async_('a'), slow.async_('b'))"), [
      "a",
      "b",
    ])
    assert.equal(await runtime.value("async def work():\n    return await slow('inner')\nawait work()"), "inner")
  })

  test("throw what the host threw: its class, its message, and itself in the execution", async () => {
    const failed = await runtime.failed("1\nfail()")
    assert.match(failed.error.message, /^NoSuchTask: no task 7/)
    assert.equal(failed.error.line, 2)
    assert.equal(failed.thrown, thrown)
    const caught = "try:\n    tooFar()\nexcept ValueError as e:\n    caught = type(e).__name__ + ': ' + str(e)\ncaught"
    assert.equal(await runtime.value(caught), "RangeError: too far")
    const error = (await runtime.failed("await fail()")).error
    assert.match(error.message, /NoSuchTask/)
  })

  test("throw plain errors under their plain name, and what cannot be shown as well as it goes", async () => {
    assert.equal((await runtime.failed("broken()")).error.message, "Error: plain")
    assert.match((await runtime.failed("opaque()")).error.message, /^Error: \[Object: null prototype\] \{\}/)
  })

  test("pass the gate also when the host calls what Python gave it, and are not called unasked", async () => {
    const asked: RuntimeCall[] = []
    const call: CallGate = (told, next) => {
      asked.push(told)
      return told.approve ? Promise.reject(new Error("not approved")) : next()
    }
    assert.match((await runtime.failed("twice(gated)", { callGate: call })).error.message, /not approved/)
    assert.deepEqual(
      asked.map(({ binding, approve }) => [binding, approve]),
      [
        ["twice", false],
        ["gated", true],
      ],
    )
    for (const name of ["then", "toJSON", "toString", "valueOf"]) {
      const { error } = await runtime.failed(`written({'${name}': gated})`, { callGate: call })
      assert.match(error.message, new RegExp(`function under "${name}" cannot cross`))
    }
    assert.equal(await runtime.value("written({'later': gated, 'name': 'x'})", { callGate: call }), '{"name":"x"}')
  })

  test("that give what cannot cross fail with the path", async () => {
    assert.match((await runtime.failed("odd()")).error.message, /odd\(…\) cannot cross to Python: a symbol/)
  })

  test("may give and take functions", async () => {
    assert.equal(await runtime.value("double = make()\ndouble(21)"), 42)
    assert.equal(await runtime.value("twice(lambda n: n * 10)"), 30)
    const { error } = await runtime.failed("def bad(n):\n    raise KeyError('k')\ntwice(bad)")
    assert.match(error.message, /KeyError/)
  })

  test("of an object of services keep their object", async () => {
    assert.equal(await runtime.value("service.say('hi')"), "> hi")
    assert.equal(await runtime.value("service.prefix"), ">")
  })

  test("can be called from threads", async () => {
    const code = "from concurrent.futures import ThreadPoolExecutor\nlist(ThreadPoolExecutor().map(add, range(50)))"
    assert.deepEqual(
      await runtime.value(code),
      Array.from({ length: 50 }, (_, i) => i + 1),
    )
  })

  test("answer more than the kernel has read while it goes on asking", async () => {
    const code = [
      "import asyncio",
      "large = 'x' * 2_000_000",
      "answers = await asyncio.gather(*[slow.async_(large) for _ in range(30)])",
      "sum(map(len, answers))",
    ]
    assert.equal(await runtime.value(code.join("\n")), 60_000_000)
    const threads =
      "from concurrent.futures import ThreadPoolExecutor\nlen(list(ThreadPoolExecutor(4).map(slow, [large] * 20)))"
    assert.equal(await runtime.value(threads), 20)
  })

  test("are documented for Python and for the model", async () => {
    const text = await runtime.describe(["find", "greet", "add"])
    assert.match(text, /def find\(city: str, limit: int = \.\.\.\)/)
    assert.match(text, /def greet\(name: str, options: dict = \.\.\.\) -> str/)
    assert.match(text, /def add\(a, b: float = \.\.\.\)/)
  })

  test("may use the runtime that called them, but not run a cell in it", async () => {
    await runtime.inject({
      peek: () => retrieveAny(runtime, "secret"),
      poke: () => runtime.update({ secret: 2 }),
      nest: async () => {
        const execution = await runtime.execute("1")
        return execution.ok ? "ran" : `${execution.error.kind}: ${execution.error.message}`
      },
    })
    assert.deepEqual(await runtime.value("secret = 1\nseen = peek()\npoke()\n[seen, secret]"), [1, 2])
    assert.match(String(await runtime.value("nest()")), /^refused: .*cell \d+ of the same pythonRuntime.*cell \d+/)
  })
})

/** Sends any operation in the kernel's format, without checks. */
const operate =
  "import sys\nx = sys.modules['karst_kernel.executions'].current()\n" +
  "(lambda op, t, p, **more: account._karst_channel.request({'k': 'op', 'op': op, 'x': x, 't': t, 'p': p, **more}, (), True))"

describe("the host's objects in Python", { skip: requires("python") }, () => {
  const account = new Account()
  const runtime = sharedRuntime({
    account,
    Account,
    open: () => new Account(),
    take: (thing: unknown) => thing === account,
  })

  test("have methods, attributes and setters, all on the host", async () => {
    assert.equal(await runtime.value("account.deposit(5)"), 15)
    await runtime.ran("account.balance = 100")
    assert.equal(account.balance, 100)
    assert.deepEqual(await runtime.value("account.history"), ["+5"])
    assert.deepEqual(await runtime.value("list(account)"), ["+5"])
    assert.match(String(await runtime.value("repr(account) + str('deposit' in dir(account))")), /host Account>True/)
  })

  test("are one and the same wherever they come from", async () => {
    assert.equal(await runtime.value("account.later() is account and take(account)"), true)
    assert.equal(await runtime.retrieve("account"), account)
    assert.equal(await runtime.value("isinstance(account, Account) and not isinstance(5, Account)"), true)
    assert.equal(await runtime.value("fresh = Account()\nfresh.balance"), 10)
  })

  test("let every call of a method pass the gate", async () => {
    const calls: RuntimeCall[] = []
    await runtime.ran("opened = open()\nopened.deposit(1)\naccount.deposit(1)", {
      callGate(call, next) {
        calls.push(call)
        return next()
      },
    })
    assert.deepEqual(
      calls.map(({ binding, method }) => [binding, method]),
      [
        ["open", undefined],
        ["open", "deposit"],
        ["account", "deposit"],
      ],
    )
  })

  test("stay as long as one of their methods is held, and give all of their items or none", async () => {
    await runtime.inject({
      endless: new (class Endless {
        *[Symbol.iterator]() {
          for (let n = 0; ; n++) yield n
        }
      })(),
      mirrored: new Proxy(new Account(), {}),
    })
    await runtime.ran("deposit = open().deposit")
    assert.equal(await runtime.value("deposit(1) + deposit(1)"), 23)
    assert.match((await runtime.failed("list(endless)")).error.message, /endless has more than 1000000 elements/)
    const methods: unknown[] = []
    await runtime.ran("mirrored.later()", {
      callGate({ binding, method }, next) {
        methods.push([binding, method])
        return next()
      },
    })
    assert.deepEqual(methods, [["mirrored", "later"]])
  })

  test("lead nowhere else", async () => {
    for (const attempt of [
      "account.constructor",
      "account.deposit.constructor",
      "account.prototype",
      "account.nothing",
      "account.deposit = 5",
      "account.brandNew = 5",
      "account.__proto__ = {}",
      `${operate}('get', account._karst_id, ['constructor'])`,
      `${operate}('get', account._karst_id, ['__proto__'])`,
      `${operate}('set', account._karst_id, ['deposit'], v=[1])`,
      `${operate}('call', account._karst_id, ['toString'], v=[[], {}])`,
      `${operate}('call', account._karst_id, ['constructor'], v=[[], {}])`,
      `${operate}('new', account._karst_id, ['balance'], v=[[], {}])`,
    ]) {
      assert.equal((await runtime.failed(attempt)).error.kind, "throw", attempt)
    }
    assert.equal(typeof account.deposit, "function")
  })

  test("end a kernel that speaks of an object, a cell or an operation that there is none of", async () => {
    for (const attempt of [
      `${operate}('call', 99999, [], v=[[], {}])`,
      `${operate}('get', 0, ['balance'])`,
      `${operate}('get', account._karst_id, ['balance'], x='cell_0123456789ab')`,
      `${operate}('get', account._karst_id, ['balance'], x=None)`,
      `${operate}('call', account._karst_id, ['deposit'], v='x')`,
      `${operate}('eval', account._karst_id, [])`,
      `${operate}('get', account._karst_id, 'balance')`,
    ]) {
      const { error } = await runtime.failed(attempt)
      assert.equal(error.kind, "crash", attempt)
      assert.match(error.message, /it sent .* to its host/)
    }
    assert.equal(await runtime.value("account.deposit(0) >= 0"), true)
  })

  test("are forgotten by the host when Python drops them", async () => {
    const made: WeakRef<object>[] = []
    await runtime.inject({
      big: () => {
        const each = new (class Big {
          use() {}
        })()
        made.push(new WeakRef(each))
        return each
      },
    })
    await runtime.ran("for _ in range(20): big()")
    assert.equal(made.length, 20)
    // The cell above has released its objects. Ids are not reused, so a late use of an old id fails.
    await runtime.ran("import gc; gc.collect(); held = big()")
    const error = (await runtime.failed(`account = held\n${operate}('get', held._karst_id - 10, ['use'])`)).error
    assert.match(error.message, /released/)
  })
})
