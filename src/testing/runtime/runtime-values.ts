// Cases of the runtime suite: kinds of values. Cells see each as what it is, and it comes back unchanged.
import assert from "node:assert/strict"
import { type Code, type RuntimeTrial, runtimeCase } from "./runtime-case.ts"

export const valueCases = {
  "inject-primitives": runtimeCase("text, numbers, booleans and null", async (trial) => {
    const values = { text: "héllo 日本 🙂\n", whole: -42, fraction: 0.1, endless: Infinity, yes: true, nothing: null }
    await comesAndGoes(trial, values, {
      typescript: `text === "héllo 日本 🙂\\n" && whole === -42 && fraction === 0.1 && endless === Infinity
          && yes === true && nothing === null`,
      python: `text == "héllo 日本 🙂\\n" and whole == -42 and isinstance(whole, int) and fraction == 0.1 and \\
          endless == float("inf") and yes is True and nothing is None`,
    })
  }),

  "inject-data": runtimeCase("arrays and objects, nested", async (trial) => {
    const order = { id: 7, tags: ["a", "b"], address: { city: "Zürich", lines: [["x"], []] }, note: null, none: {} }
    await comesAndGoes(
      trial,
      { order, list: [1, "two", [3]] },
      {
        typescript: "order.tags[1] === 'b' && order.address.city === 'Zürich' && list[2][0] === 3 && list.length === 3",
        python:
          "order['tags'][1] == 'b' and order['address']['city'] == 'Zürich' and list[2][0] == 3 and len(list) == 3",
      },
    )
  }),

  "inject-collections": runtimeCase("maps and sets", async (trial) => {
    const counts = new Map<string, unknown>([
      ["a", 1],
      ["b", [2]],
    ])
    const seen = new Set(["x", "y"])
    const code = {
      typescript: "counts instanceof Map && counts.get('b')[0] === 2 && seen instanceof Set && seen.has('y')",
      python: "counts['b'][0] == 2 and isinstance(seen, set) and 'y' in seen",
    }
    await trial.runtime.inject({ counts, seen })
    await trial.holds(code)
    // Python does not distinguish a map with text keys from an object.
    const back = trial.language === "python" ? Object.fromEntries(counts) : counts
    assert.deepEqual(await trial.runtime.retrieve("counts"), back)
    assert.deepEqual(await trial.runtime.retrieve("seen"), seen)
  }),

  "inject-dates": runtimeCase("dates, to the millisecond", async (trial) => {
    const when = new Date("2026-03-04T05:06:07.089Z")
    await comesAndGoes(
      trial,
      { when },
      {
        typescript: "when instanceof Date && when.getTime() === 1772600767089",
        python: "round(when.timestamp() * 1000) == 1772600767089",
      },
    )
  }),

  "inject-bigints": runtimeCase("whole numbers that are too large for a number", async (trial) => {
    const big = 2n ** 80n + 1n
    await comesAndGoes(trial, { big }, { typescript: "big === 2n ** 80n + 1n", python: "big == 2**80 + 1" })
  }),

  "inject-typed-arrays": runtimeCase("typed arrays", async (trial) => {
    const values = { reals: new Float64Array([1.5, -2]), wholes: new Int32Array([7, -8]) }
    await comesAndGoes(trial, values, {
      typescript:
        "reals instanceof Float64Array && reals[1] === -2 && wholes instanceof Int32Array && wholes[1] === -8",
      python: "reals.dtype == 'float64' and reals[1] == -2 and wholes.dtype == 'int32' and int(wholes[1]) == -8",
    })
  }),

  "inject-bytes": runtimeCase("bytes", async (trial) => {
    await comesAndGoes(
      trial,
      { data: new Uint8Array([0, 255, 10]) },
      {
        typescript: "data instanceof Uint8Array && data.length === 3 && data[1] === 255",
        python: "bytes(data) == b'\\x00\\xff\\x0a'",
      },
    )
  }),

  "inject-instances": runtimeCase(
    "an object with behaviour is the host's own: methods and properties work on it, and it comes back itself",
    async (trial) => {
      const lamp = new Lamp()
      await trial.runtime.inject({ lamp })
      assert.equal(await trial.value({ typescript: "await lamp.dim(20)", python: "lamp.dim(20)" }), "dimmed to 20")
      assert.equal(lamp.level, 20)
      assert.equal(await trial.value({ typescript: "await lamp.level", python: "lamp.level" }), 20)
      const setting = {
        typescript: "lamp.level = 35\nawait lamp.dim(await lamp.level + 1)",
        python: "lamp.level = 35\nlamp.dim(lamp.level + 1)",
      }
      assert.equal(await trial.value(setting), "dimmed to 36")
      assert.equal(lamp.level, 36)
      assert.equal(await trial.runtime.retrieve("lamp"), lamp)
      await trial.ran({ typescript: "const alias = lamp", python: "alias = lamp" })
      assert.equal(await trial.runtime.retrieve("alias"), lamp)
    },
  ),

  "inject-instances-within": runtimeCase(
    "objects with behaviour inside plain data are the host's own too",
    async (trial) => {
      const lamps = [new Lamp(), new Lamp()]
      await trial.runtime.inject({ house: { name: "home", lamps } })
      const code = {
        typescript: "await house.lamps[1].dim(5)\nhouse.name",
        python: "house['lamps'][1].dim(5)\nhouse['name']",
      }
      assert.equal(await trial.value(code), "home")
      assert.deepEqual(
        lamps.map((lamp) => lamp.level),
        [100, 5],
      )
    },
  ),

  "inject-functions": runtimeCase(
    "a function receives the cell's arguments and the cell receives its result",
    async (trial) => {
      const given: unknown[] = []
      const describe = (...args: unknown[]) => {
        given.push(args)
        return { count: args.length, when: new Date(0) }
      }
      await trial.runtime.inject({ describe })
      const code = {
        typescript: "const answer = await describe(1, 'two', { three: [3] }, null)\nanswer.count",
        python: "answer = describe(1, 'two', {'three': [3]}, None)\nanswer['count']",
      }
      assert.equal(await trial.value(code), 4)
      assert.deepEqual(given, [[1, "two", { three: [3] }, null]])
      assert.deepEqual(await trial.runtime.retrieve("answer"), { count: 4, when: new Date(0) })
      assert.equal(await trial.runtime.retrieve("describe"), describe)
    },
  ),

  "inject-async-functions": runtimeCase("an async function is waited for", async (trial) => {
    const slow = async (text: string) => {
      await new Promise((resolve) => setTimeout(resolve, 2))
      return `${text}, later`
    }
    await trial.runtime.inject({ slow })
    assert.equal(await trial.value({ typescript: "await slow('now')", python: "slow('now')" }), "now, later")
  }),

  "inject-types": runtimeCase("a class is a type", async (trial) => {
    await trial.runtime.inject({ Lamp })
    const [name] = await trial.runtime.names()
    assert.deepEqual([name?.name, name?.kind, name?.injected], ["Lamp", "type", true])
    assert.match(await trial.runtime.describe(), /(class|interface) Lamp\b/)
    assert.equal(await trial.runtime.retrieve("Lamp"), Lamp)
    const code = {
      typescript: "const made = await new Lamp()\nawait made.dim(1)",
      python: "made = Lamp()\nmade.dim(1)",
    }
    assert.equal(await trial.value(code), "dimmed to 1")
  }),

  "inject-agents": runtimeCase("an agent is an agent, and can be run", async (trial) => {
    const prompts: string[] = []
    const agent = {
      name: "cleaner",
      run(prompt: string) {
        prompts.push(prompt)
        return { settled: Promise.resolve({ status: "done", output: "cleaned" }), async [Symbol.asyncDispose]() {} }
      },
      session() {},
      describe: () => "Cleans",
      with() {},
    }
    await trial.runtime.inject({ cleaner: agent })
    assert.equal((await trial.runtime.names()).find(({ name }) => name === "cleaner")?.kind, "agent")
    const code = {
      typescript: "const result = await cleaner.run('tidy up')\nresult.output",
      python: "result = cleaner.run('tidy up')\nresult['output']",
    }
    assert.equal(await trial.value(code), "cleaned")
    assert.deepEqual(prompts, ["tidy up"])
    assert.equal(await trial.runtime.retrieve("cleaner"), agent)
  }),

  "inject-aliases": runtimeCase("one object in two places is one object in the runtime", async (trial) => {
    const shared = { n: 1 }
    await trial.runtime.inject({ pair: { left: shared, right: shared } })
    await trial.holds({
      typescript: "pair.left.n = 2\npair.right.n === 2",
      python: "pair['left']['n'] = 2\npair['right']['n'] == 2",
    })
  }),
}

class Lamp {
  level = 100
  dim(to: number) {
    this.level = to
    return `dimmed to ${to}`
  }
}

async function comesAndGoes(trial: RuntimeTrial, values: Record<string, unknown>, seen: Code): Promise<void> {
  await trial.runtime.inject(values)
  await trial.holds(seen)
  for (const [name, value] of Object.entries(values)) assert.deepEqual(await trial.runtime.retrieve(name), value)
}
