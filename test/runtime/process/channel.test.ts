import assert from "node:assert/strict"
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { serialize } from "node:v8"
import fc from "fast-check"
import { openChannel } from "../../../src/runtime/process/channel.ts"
import { readMessage, readSummary } from "../../../src/runtime/process/protocol.ts"

let count = 0

/** Two ends of a real socket. */
async function pair(): Promise<[Socket, Socket]> {
  const path = join(tmpdir(), `karst-channel-${process.pid}-${++count}`)
  const server = createServer().listen(path)
  await once(server, "listening")
  const one = connect(path)
  const [other] = (await once(server, "connection")) as [Socket]
  server.close()
  return [one, other]
}

/** All that comes out of a channel that these bytes go into. */
async function heard(chunks: readonly Uint8Array[], maxBytes = 1_000_000) {
  const [writer, reader] = await pair()
  const messages: unknown[] = []
  const end = new Promise<string | undefined>((resolve) => {
    openChannel(reader, { maxBytes, onMessage: (message) => messages.push(message), onEnd: resolve })
  })
  writer.on("error", () => {})
  for (const chunk of chunks) writer.write(chunk)
  writer.end()
  return { messages, problem: await end }
}

function frame(value: unknown): Buffer {
  const body = serialize(value)
  const head = Buffer.alloc(4)
  head.writeUInt32LE(body.length)
  return Buffer.concat([head, body])
}

test("messages arrive whole and in order, however the bytes are cut", async () => {
  const values = fc.array(fc.oneof(fc.string(), fc.dictionary(fc.string(), fc.integer())), { maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(values, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), async (sent, cuts) => {
      const bytes = Buffer.concat(sent.map(frame))
      const chunks: Buffer[] = []
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const length = cuts[turn % cuts.length] ?? 1
        chunks.push(bytes.subarray(at, at + length))
        at += length
      }
      const { messages, problem } = await heard(chunks)
      assert.deepEqual(JSON.stringify(messages), JSON.stringify(sent))
      assert.equal(problem, undefined)
    }),
    { numRuns: 50 },
  )
})

test("bytes that are no message end the channel with a reason, and throw nothing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 5, maxLength: 200 }), async (body) => {
      const head = Buffer.alloc(4)
      head.writeUInt32LE(body.length)
      const { messages, problem } = await heard([head, body])
      assert.ok(problem !== undefined || messages.length === 1)
    }),
    { numRuns: 100 },
  )
})

test("a message with some bytes changed is a message, or a reason to end", async () => {
  const good = serialize({
    type: "call",
    id: 1,
    execution: 2,
    operation: { on: "f", path: [], op: "call", args: { body: [1] } },
  })
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 1), fc.nat(255), async (at, byte) => {
      const changed = Buffer.from(good)
      changed[at] = byte
      const head = Buffer.alloc(4)
      head.writeUInt32LE(changed.length)
      const { messages } = await heard([head, changed])
      for (const message of messages) readMessage(message)
    }),
    { numRuns: 100 },
  )
})

test("a message that is announced too long ends the channel before it comes", async () => {
  const { problem } = await heard([Buffer.from([255, 255, 255, 127])], 1000)
  assert.match(problem ?? "", /2147483647 bytes, where 1000 are allowed/)
})

test("whatever an object looks like, reading it as a message throws nothing", () => {
  const shapes = fc.oneof(
    fc.anything(),
    fc.record({
      type: fc.constantFrom("result", "output", "call", "release"),
      id: fc.anything(),
      ok: fc.anything(),
      value: fc.anything(),
      operation: fc.anything(),
      handles: fc.anything(),
      execution: fc.anything(),
      stream: fc.anything(),
      text: fc.anything(),
    }),
  )
  fc.assert(
    fc.property(shapes, (message) => {
      readMessage(message)
      readSummary(message)
    }),
  )
})

test("every small message arrives as it was sent, with what JSON cannot say", async () => {
  const [here, there] = await pair()
  const arrived: unknown[] = []
  const sender = openChannel(here, { maxBytes: 1_000_000, onMessage() {}, onEnd() {} })
  openChannel(there, { maxBytes: 1_000_000, onMessage: (message) => arrived.push(message), onEnd() {} })
  const twice = { a: 1 }
  const messages = [
    { plain: [1, "ü\ud800\u0000", true, null, { a: [] }] },
    { odd: [-0, Number.NaN, undefined, 1n], gone: undefined },
    { first: twice, second: twice },
    { holes: Object.assign(new Array(3), { 1: "x" }), fields: Object.assign([1], { field: 2 }) },
    { date: new Date(5), map: new Map([[1, new Set([2])]]), toJSON: "a field" },
    JSON.parse('{"__proto__": {"a": 1}}') as object,
  ]
  for (const message of messages) sender.send(message)
  sender.send({ last: true })
  while (arrived.length <= messages.length) await new Promise(setImmediate)
  assert.deepEqual(arrived, [...messages, { last: true }])
  const { first, second } = arrived[2] as { first: object; second: object }
  assert.equal(first, second)
  sender.close()
  there.destroy()
})
