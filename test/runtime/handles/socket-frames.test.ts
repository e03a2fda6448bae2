// test lane: runtimes, long
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { connect as connectTo, createServer, type Socket } from "node:net"
import { describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { Json } from "../../../src/core/json.ts"
import { estimateJsonCost } from "../../../src/runtime/handles/codec/json-cost.ts"
import {
  createFrameReader,
  createSocketLink,
  encodeFrame,
  type FrameLimits,
} from "../../../src/runtime/handles/socket-frames.ts"
import type { Frame } from "../../../src/runtime/handles/wire.ts"
import { skipUnless } from "../../system.ts"
import { until } from "../../waiting.ts"
import { randomFrom } from "./seeded-random.ts"

const limits: FrameLimits = { maxBytes: 1_000_000, maxSentBytes: 1_000_000, maxDepth: 100 }

function bytesOf(frame: Frame): Buffer {
  return Buffer.concat(encodeFrame(frame, Number.POSITIVE_INFINITY))
}

/** Reads bytes in pieces of these sizes; the last size is used for the rest. */
function readAll(
  bytes: Buffer,
  sizes: (left: number) => number,
  given = limits,
): { frames: Frame[]; problem?: string } {
  const frames: Frame[] = []
  const read = createFrameReader(given, (frame) => void frames.push(frame))
  for (let at = 0; at < bytes.length; ) {
    const size = Math.max(1, sizes(bytes.length - at))
    const problem = read(bytes.subarray(at, at + size))
    if (problem !== undefined) return { frames, problem }
    at += size
  }
  return { frames }
}

function randomJson(random: ReturnType<typeof randomFrom>, depth: number): Json {
  const kind = random.below(depth > 0 ? 7 : 5)
  if (kind === 0) return null
  if (kind === 1) return random.below(2) === 1
  if (kind === 2) return random.below(1e9) / (random.below(2) === 1 ? 1 : 7)
  if (kind <= 4)
    return random.pick(["", "a", 'quote " and \\ backslash', "漢字", "\u0000", "[{,}]:", "x".repeat(random.below(300))])
  const parts = Array.from({ length: random.below(6) }, () => randomJson(random, depth - 1))
  return kind === 5
    ? parts
    : Object.fromEntries(parts.map((part, at) => [random.pick(["a", "$", "key", `k${at}`, "1"]), part]))
}

function randomFrame(random: ReturnType<typeof randomFrom>): Frame {
  const buffers = Array.from({ length: random.below(4) }, () => Buffer.alloc(random.below(2000), random.below(256)))
  return { message: { k: "x", v: randomJson(random, 5) }, buffers, special: random.below(2) === 1 }
}

function plainOf({ message, buffers, special }: Frame): unknown {
  return { message, buffers: buffers.map((buffer) => Buffer.from(buffer).toString("hex")), special }
}

test("frames arrive whole, in order, however their bytes are cut", () => {
  for (let seed = 1; seed <= 150; seed++) {
    const random = randomFrom(seed)
    const sent = Array.from({ length: 1 + random.below(5) }, () => randomFrame(random))
    const bytes = Buffer.concat(sent.map(bytesOf))
    const ways = [() => 1, () => bytes.length, () => 1 + random.below(40), () => 1 + random.below(5000)]
    for (const sizes of bytes.length > 20_000 ? ways.slice(1) : ways) {
      const { frames, problem } = readAll(bytes, sizes)
      assert.equal(problem, undefined, `seed ${seed}`)
      assert.deepEqual(frames.map(plainOf), sent.map(plainOf), `seed ${seed}`)
    }
  }
})

test("bytes that were changed are a frame or a reason, and never an exception", () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomFrom(seed)
    const bytes = bytesOf(randomFrame(random))
    for (let change = 0; change <= random.below(4); change++) bytes[random.below(bytes.length)] = random.below(256)
    const { problem } = readAll(bytes, () => 1 + random.below(3000))
    if (problem !== undefined) assert.match(problem, /^a (frame|message|value) /, `seed ${seed}`)
  }
})

test("bytes that were never a frame are a reason, or wait for more", () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomFrom(seed)
    const bytes = Buffer.from(Array.from({ length: 1 + random.below(200) }, () => random.below(256)))
    const { frames, problem } = readAll(bytes, () => 1 + random.below(20))
    assert.deepEqual(frames, [])
    if (problem !== undefined) assert.match(problem, /^a (frame|message|value) /)
  }
})

test("a frame that announces more than is allowed is refused before it comes", () => {
  const read = createFrameReader(limits, () => assert.fail("there is no frame"))
  assert.equal(read(Buffer.from([0xff, 0xff, 0xff])), undefined)
  assert.match(read(Buffer.from([0xff])) ?? "", /a message of 4294967295 bytes, where 1000000 are allowed/)
})

test("a frame whose parts are longer than it is refused, and so is one with too many buffers", () => {
  const change = (at: number, value: number) => {
    const bytes = bytesOf({ message: { k: "x" }, buffers: [Buffer.alloc(4)], special: false })
    bytes.writeUInt32LE(value, at)
    return readAll(bytes, () => bytes.length).problem
  }
  assert.match(change(5, 5_000) ?? "", /parts do not fit/)
  assert.match(change(9, 2 ** 31) ?? "", /parts do not fit/)
  assert.match(change(13, 500) ?? "", /parts do not fit/)
  assert.match(change(0, 3) ?? "", /impossible size/)
})

test("JSON that is nested too deeply is refused before it is parsed", () => {
  const nested = (depth: number) => {
    const json = Buffer.from(`{"v":${"[".repeat(depth)}${"]".repeat(depth)}}`)
    const bytes = Buffer.alloc(13)
    bytes.writeUInt32LE(9 + json.length)
    bytes.writeUInt32LE(json.length, 5)
    return readAll(Buffer.concat([bytes, json]), () => 100_000)
  }
  assert.equal(nested(100).frames.length, 1)
  assert.match(nested(120).problem ?? "", /nested too deeply/)
  assert.match(nested(400_000).problem ?? "", /nested too deeply/)
})

test("a reader that must rest keeps the frames behind for the next chunk", () => {
  const frames: Frame[] = []
  let rests = true
  const read = createFrameReader(
    limits,
    (frame) => void frames.push(frame),
    () => rests,
  )
  const one = bytesOf({ message: { k: "x" }, buffers: [], special: false })
  read(Buffer.concat([one, one, one]))
  assert.equal(frames.length, 1)
  read(Buffer.alloc(0))
  assert.equal(frames.length, 2)
  rests = false
  read(one)
  assert.equal(frames.length, 4)
})

describe("over a socket,", () => {
  const pair = async (): Promise<{ host: Socket; peer: Socket; close(): void }> => {
    const { promise, resolve } = Promise.withResolvers<Socket>()
    const server = createServer(resolve)
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
    const address = server.address()
    const peer = connectTo(typeof address === "object" && address ? address.port : 0, "127.0.0.1")
    const host = await promise
    return {
      host,
      peer,
      close() {
        host.destroy()
        peer.destroy()
        server.close()
      },
    }
  }
  const request = bytesOf({ message: { k: "x" }, buffers: [], special: false })
  const answer = { message: { k: "y", v: "x".repeat(1e6) }, buffers: [], special: false }
  const maxUnreadBytes = 4_000_000

  test("a peer that asks and does not read is not read from, and served when it reads again", async () => {
    const { host, peer, close } = await pair()
    const link = createSocketLink(host, { ...limits, maxSentBytes: 1e9, maxUnreadBytes })
    let most = 0
    let served = 0
    link.listen({
      onFrame() {
        // Answer a little later, as host functions do.
        void Promise.resolve().then(() => {
          served++
          link.send(answer)
          most = Math.max(most, host.writableLength)
        })
      },
      onEnd() {},
    })
    peer.pause()
    peer.write(Buffer.concat(new Array(400).fill(request)))
    // The link waits for the peer to read.
    await until(() => host.listenerCount("drain") > 0)
    assert.ok(served < 60, `${served} were served while nothing was read`)
    assert.ok(most < maxUnreadBytes + 20 * 1e6, `${most} bytes waited`)
    peer.resume()
    await until(() => served === 400)
    close()
  })

  test("two sides that send each other more than both would buffer do not wait for each other", async () => {
    const { host, peer, close } = await pair()
    const ends = [
      createSocketLink(host, { ...limits, maxBytes: 1e9, maxSentBytes: 1e9, maxUnreadBytes }),
      createSocketLink(peer, { ...limits, maxBytes: 1e9, maxSentBytes: 1e9 }),
    ]
    const received = ends.map((end) => {
      const frames: Frame[] = []
      end.listen({ onFrame: (frame) => void frames.push(frame), onEnd() {} })
      return frames
    })
    for (let at = 0; at < 40; at++) for (const end of ends) end.send(answer)
    await until(() => received.every(({ length }) => length === 40))
    close()
  })
})

describe("what a JSON text costs", () => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  let kept: unknown
  const parse = (text: string) => {
    kept = JSON.parse(text)
  }
  const heapAfter = async () => {
    await new Promise((resolve) => setTimeout(resolve, 2))
    if (typeof collect === "function") collect()
    return process.memoryUsage().heapUsed
  }
  const measured = async (text: string) => {
    kept = undefined
    const before = await heapAfter()
    parse(text)
    const used = (await heapAfter()) - before
    assert.ok(kept !== undefined)
    return used
  }
  const list = (count: number, piece: (at: number) => string) =>
    `[${Array.from({ length: count }, (_, at) => piece(at)).join()}]`
  const random = randomFrom(7)
  const letters = () => new Set(Array.from({ length: 6 }, () => String.fromCharCode(97 + random.below(26))))
  const shapes: Record<string, string> = {
    "empty arrays": list(80_000, () => "[]"),
    "empty objects": list(80_000, () => "{}"),
    "nested arrays": list(40_000, () => "[[[]]]"),
    numbers: list(80_000, (at) => `${at}.5,null`),
    "records with the same keys": list(40_000, () => '{"a":1,"b":2.5,"c":"x","d":null}'),
    "records with a key each": list(40_000, (at) => `{"k${at}":1}`),
    "records with keys in any order": list(40_000, () => `{${[...letters()].map((key) => `"${key}":1`).join()}}`),
    "an object of many keys": `{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":1.5`).join()}}`,
    "objects with indices": list(40_000, () => '{"9":1}'),
    "objects with the largest index": list(40_000, () => '{"4294967294":1}'),
    "different texts": list(60_000, (at) => `"${at}"`),
    "wide texts": list(60_000, (at) => `"漢字${at}"`),
    "random values": JSON.stringify(Array.from({ length: 4_000 }, () => randomJson(random, 6))),
  }
  for (const [name, text] of Object.entries(shapes)) {
    test(`is estimated from above: ${name}`, async () => {
      const used = await measured(text)
      const { heapBytes } = estimateJsonCost(Buffer.from(text))
      assert.ok(heapBytes >= 0.95 * used, `estimated ${heapBytes}, took ${used}`)
      assert.ok(heapBytes < 40 * Math.max(used, text.length), `estimated ${heapBytes}, took ${used}`)
    })
  }

  test("is found by looking at each byte once, whatever the text is", () => {
    const views = ['"', '\\"', "[", "{", ",", '"\\\\', '":', "\\", '"a":'].map((piece) => Buffer.alloc(100_000, piece))
    for (const text of views) {
      let reads = 0
      const counted = new Proxy(text, {
        get(target, key) {
          if (typeof key === "string" && /^\d+$/.test(key)) reads++
          const value: unknown = Reflect.get(target, key)
          return typeof value === "function" ? value.bind(target) : value
        },
      })
      estimateJsonCost(counted)
      assert.ok(reads < 6 * text.length, `${text.subarray(0, 4)}: ${reads} reads of ${text.length} bytes`)
    }
  })

  test("does not count what stands inside of texts", () => {
    const { depth, heapBytes } = estimateJsonCost(Buffer.from(JSON.stringify({ a: '[[[{{{",,,\\"' })))
    assert.equal(depth, 1)
    assert.ok(heapBytes < 400)
  })
})

describe("a host with a heap of 300 MB outlives", () => {
  const host = fileURLToPath(new URL("small-host.ts", import.meta.url))
  const run = async (name: string) => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--max-old-space-size=300", host, name])
    return JSON.parse(stdout) as { alive: boolean; megabytes: number; outcome: string }
  }
  const long = skipUnless("KARST_REQUIRE_ALL")
  const refused = /more parts than this process has memory for|table that is too large/
  for (const name of ["arrays", "indices", "keys", "tables"]) {
    test(`a message of 90 MB, or that becomes as much: ${name}`, async () => {
      const { alive, outcome } = await run(name)
      assert.equal(alive, true)
      assert.match(outcome, refused)
    })
  }
  for (const name of ["objects", "nested", "texts", "many keys in many objects", "one buffer for many columns"]) {
    test(`a message of 90 MB, or that becomes as much: ${name}`, { skip: long }, async () => {
      const { alive, outcome } = await run(name)
      assert.equal(alive, true)
      assert.match(outcome, refused)
    })
  }
  for (const name of ["arrays", "objects", "indices", "keys", "texts", "tables"]) {
    test(`the largest message that it accepts: ${name}`, { skip: long }, async () => {
      assert.equal((await run(`accepted ${name}`)).alive, true)
    })
  }
  test("five thousand answers of a megabyte that are never read", async () => {
    const { alive, megabytes } = await run("answers that are never read")
    assert.equal(alive, true)
    assert.ok(megabytes < 400, `${megabytes} MB`)
  })
  for (const name of [
    "buffers without content",
    "objects of the cell",
    "a frame that comes byte by byte",
    "a message of 200 MB announced",
  ]) {
    test(name, { skip: long }, async () => {
      const { alive, megabytes } = await run(name)
      assert.equal(alive, true)
      assert.ok(megabytes < 500, `${megabytes} MB`)
    })
  }
})
