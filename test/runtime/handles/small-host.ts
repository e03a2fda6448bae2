// A host with a small heap, whose cell tries to exhaust it. Prints whether the host is alive, the cell's result, and
// the host's peak memory. Run it as: node --max-old-space-size=300 small-host.ts <name of the attack>
import { processRuntime } from "../../../src/runtime/process.ts"
import { rawChannel } from "../process/raw-channel.ts"

const frame = (piece: string) =>
  `const piece = Buffer.from(${piece}), text = Buffer.alloc(90e6, piece).subarray(0, Math.floor(90e6 / piece.length) * piece.length);` +
  `const json = Buffer.concat([Buffer.from('{"k":"op","v":['), text, Buffer.from('0]}')]), head = Buffer.alloc(13);` +
  "head.writeUInt32LE(9 + json.length); head.writeUInt8(1, 4); head.writeUInt32LE(json.length, 5); raw(head); raw(json); await pause(); 1"

/** Sends a value of the largest accepted number of pieces three times. */
const accepted = (piece: string, count: number) =>
  `const text = '[' + Array.from({ length: ${count} }, (_, i) => ${piece}).join() + ']';` +
  "const t = await idOf(keep); for (let n = 0; n < 3; n++) { const i = ++globalThis.lastSaid;" +
  "sayText(JSON.stringify({ k: 'op', i, x: x(), op: 'call', t, p: [], v: [['VALUE'], {}] }).replace('\"VALUE\"', () => text));" +
  "while (!heard.answers.has(i)) await pause(5) } 'all accepted'"

const attacks: Record<string, string> = {
  "accepted arrays": accepted("'[]'", 1_440_000),
  "accepted objects": accepted("'{}'", 1_440_000),
  "accepted indices": accepted(`'{"9":1}'`, 430_000),
  "accepted keys": accepted(`'{"k' + i + '":1}'`, 560_000),
  "accepted texts": accepted(`'"' + i + '"'`, 3_100_000),
  "accepted tables":
    "const n = 2.8e6, t = await idOf(keep); for (let i = 0; i < 3; i++) await ask({ op: 'call', t, v: [[{ $: 't', n, c: [{ name: 'a', kind: 'boolean', i: 0 }] }], {}] }, [Buffer.alloc(n)]); 'all accepted'",
  arrays: frame("'[],'"),
  objects: frame("'{},'"),
  nested: frame("'[[[[[[[]]]]]]],'"),
  texts: frame(`'"ab","cd",'`),
  indices: frame(`'{"9":1},'`),
  keys: "sayText('{' + Array.from({ length: 1.5e6 }, (_, i) => '\"k' + i + '\":1').join() + '}'); await pause(); 1",
  "many keys in many objects":
    "sayText('{\"k\":\"op\",\"v\":[' + Array.from({ length: 1.2e6 }, (_, i) => '{\"k' + i + '\":1}').join() + ']}'); await pause(); 1",
  tables:
    "const n = 3e6; await send({ op: 'call', t: await idOf(keep), v: [[0, 1, 2, 3, 4, 5, 6, 7].map((i) => ({ $: 't', n, c: [{ name: 'a', kind: 'boolean', i }] })), {}] }, Array.from({ length: 8 }, () => Buffer.alloc(n))); 1",
  "one buffer for many columns":
    "const n = 1e6; await send({ op: 'call', t: await idOf(keep), v: [[{ $: 't', n, c: Array.from({ length: 30 }, (_, i) => ({ name: 'c' + i, kind: 'boolean', i: 0 })) }], {}] }, [Buffer.alloc(n)]); 1",
  "buffers without content":
    "await send({ op: 'call', t: await idOf(keep), v: [[1], {}] }, new Array(1e6).fill(Buffer.alloc(0))); 1",
  "objects of the cell":
    "const v = Array.from({ length: 49000 }, (_, i) => ({ $: 'p', id: 1e6 + i, type: 'x', callable: false })); for (let i = 0; i < 5; i++) await send({ op: 'call', t: await idOf(keep), v: [[v.map((each) => ({ ...each, id: each.id + i * 1e6 }))], {}] }); 1",
  "answers that are never read":
    "const t = await idOf(big); const call = frameOf(JSON.stringify({ k: 'op', i: 1, x: x(), op: 'call', t, p: [], v: [[1e6], {}] })); raw(Buffer.concat(new Array(5000).fill(call))); const until = Date.now() + 2000; while (Date.now() < until) {} 1",
  "a frame that comes byte by byte":
    "const head = Buffer.alloc(13); head.writeUInt32LE(200e6); raw(head); const one = Buffer.alloc(1); const until = Date.now() + 3000; while (Date.now() < until) { raw(one) } 1",
  "a message of 200 MB announced":
    "const head = Buffer.alloc(4); head.writeUInt32LE(256e6); raw(head); await pause(); 1",
}

const [, , name = ""] = process.argv
const code = attacks[name]
if (code === undefined) throw new Error(`There is no attack "${name}". There is: ${Object.keys(attacks).join(", ")}.`)

await using runtime = processRuntime({
  echo: (value: unknown) => value,
  keep: () => undefined,
  big: (size: number) => "x".repeat(size),
})
let most = 0
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage().rss)
}, 20)
await runtime.execute(rawChannel)
// Attacks that never end are stopped once they had enough time to do harm.
const isEndless = /announced|byte by byte|never read/.test(name)
const execution = await runtime.execute(code, { timeoutMs: isEndless ? 5_000 : 60_000 })
const outcome = execution.ok ? String(execution.value) : execution.error.message
most = Math.max(most, process.memoryUsage().rss)
clearInterval(watch)
const next = await runtime.execute("await echo(1) + 1")
console.log(JSON.stringify({ alive: next.ok && next.value === 2, megabytes: Math.round(most / 1e6), outcome }))
