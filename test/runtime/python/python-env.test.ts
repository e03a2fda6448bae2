// test lane: runtimes, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import { createRecordedClock, createSeededRandom } from "../../../src/runtime/recorded-clock.ts"
import { requires } from "../../system.ts"
import { cellsOf } from "./shared-kernel.ts"

const looks = `
import time, datetime, random, uuid, os, secrets
look = lambda: [
    time.time(), time.time_ns(), time.localtime()[:6], time.strftime("%S"),
    datetime.datetime.now().isoformat(), datetime.datetime.now(datetime.timezone.utc).isoformat(),
    datetime.datetime.utcnow().isoformat(), datetime.date.today().isoformat(), datetime.datetime.today().isoformat(),
    random.random(), random.sample(range(100), 5), str(uuid.uuid4()), os.urandom(8).hex(), secrets.token_hex(8),
]
seen = look()
print("printed")
act()
seen + look()`

async function look(code: string, recorded: readonly number[]) {
  const { now, note, takeReads } = createRecordedClock(recorded)
  const reads: number[] = []
  const effects: string[] = []
  await using runtime = pythonRuntime({ act: () => void reads.push(...takeReads()) })
  const env = {
    now,
    clock: { recorded, note },
    random: createSeededRandom("seed"),
    onEffect: (what: string) => effects.push(what),
  }
  const value = await cellsOf(runtime).value(code, { env })
  const early = reads.length
  return {
    value,
    early,
    reads: [...reads, ...takeReads()],
    effects,
    after: await cellsOf(runtime).value("__import__('time').time()"),
  }
}

describe("the environment of a cell in a pythonRuntime", { skip: requires("python") }, () => {
  test("shows a cell that is run again the time, the chance and the ids it has seen", async () => {
    const first = await look(looks, [])
    assert.equal(first.reads.length, 18)
    assert.equal(first.early, 9, "a call knows what was read before it")
    const again = await look(looks, first.reads)
    assert.deepEqual(again.value, first.value)
    assert.deepEqual(again.reads, [])
    assert.ok(Number(again.after) * 1000 > Math.max(...first.reads), "a cell without one has the real time")
    assert.deepEqual(first.effects, [])
  })

  test("reaches numpy and pandas, also when they are first loaded", { skip: requires("pandas") }, async () => {
    const code = `
import numpy as np, pandas as pd
act()
[float(np.random.rand()), float(np.random.default_rng().random()), str(pd.Timestamp.now())]`
    const first = await look(code, [])
    assert.deepEqual((await look(code, first.reads)).value, first.value)
    assert.deepEqual((await look(`import numpy.random, pandas\n${code}`, first.reads)).value, first.value)
  })

  test("leaves chance alone that a program has seeded itself", async () => {
    await using runtime = pythonRuntime()
    const { ran, value } = cellsOf(runtime)
    const env = () => ({ random: createSeededRandom("seed") })
    await ran("import random\nrandom.seed(7)", { env: env() })
    const drawn = await value("random.random()", { env: env() })
    assert.equal(drawn, await value("random.Random(7).random()"))
  })

  test("tells by what a cell reaches outside", async () => {
    const { effects } = await look(
      "import subprocess\nsubprocess.run(['true'])\nopen('f', 'w').close()\nopen('f').close()",
      [],
    )
    assert.deepEqual(effects.toSorted(), ["a file that is written", "a program that is started"])
  })

  test("cannot have parts that are the host's", async () => {
    await using runtime = pythonRuntime()
    await assert.rejects(runtime.execute("1", { env: { now: () => 1 } }), /env\.clock/)
    await assert.rejects(runtime.execute("1", { env: { variables: {} } }), /env\.variables cannot be given/)
  })
})
