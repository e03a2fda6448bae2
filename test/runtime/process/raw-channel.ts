/** A cell that defines functions for an attacker who knows the wire format: `raw(bytes)` and `say(message)` write
 *  directly to the host, and messages of the host are recorded. `x()` is the id of the running execution, `asking()`
 *  the number of the request that runs it, `idOf(value)` the number of a host object, `send(op)` performs an operation
 *  and returns `{ ok, v }`. The cells need a host function `echo`. */
export const rawChannel = `
  const fsTool = await import("node:fs"), netTool = await import("node:net")
  const raw = (bytes) => { for (let at = 0; at < bytes.length; ) at += writeSome(bytes, at) }
  const writeSome = (bytes, at) => {
    try { return fsTool.writeSync(3, bytes, at) } catch (error) { if (error.code !== "EAGAIN") throw error; return 0 }
  }
  const frameOf = (text, buffers = [], special = true) => {
    const json = Buffer.from(text), head = Buffer.alloc(13 + 4 * buffers.length)
    head.writeUInt32LE(head.length - 4 + json.length + buffers.reduce((sum, each) => sum + each.length, 0))
    head.writeUInt8(special ? 1 : 0, 4)
    head.writeUInt32LE(json.length, 5)
    head.writeUInt32LE(buffers.length, 9)
    buffers.forEach((each, at) => head.writeUInt32LE(each.length, 13 + 4 * at))
    return Buffer.concat([head, json, ...buffers])
  }
  const sayText = (text, buffers) => raw(frameOf(text, buffers))
  const say = (message, buffers) => sayText(JSON.stringify(message), buffers)
  const pause = (ms = 60) => new Promise((go) => setTimeout(go, ms))
  globalThis.heard ??= { answers: new Map(), execution: "", asking: 0, bytes: Buffer.alloc(0) }
  if (!netTool.Socket.prototype.tapped) {
    const { emit } = netTool.Socket.prototype
    netTool.Socket.prototype.tapped = true
    netTool.Socket.prototype.emit = function (name, chunk, ...rest) {
      if (name === "data") {
        heard.bytes = Buffer.concat([heard.bytes, chunk])
        while (heard.bytes.length >= 13 && heard.bytes.length >= 4 + heard.bytes.readUInt32LE(0)) {
          const start = 13 + 4 * heard.bytes.readUInt32LE(9)
          const message = JSON.parse(heard.bytes.toString("utf8", start, start + heard.bytes.readUInt32LE(5)))
          heard.bytes = heard.bytes.subarray(4 + heard.bytes.readUInt32LE(0))
          if (message.k === "reply" || message.k === "fail") heard.answers.set(message.i, message)
          if (message.k === "reply") heard.latest = message.v
          if (message.k === "ask") heard.asking = message.i
          if (message.k === "ask" && message.op === "execute") heard.execution = message.x
        }
      }
      return Reflect.apply(emit, this, [name, chunk, ...rest])
    }
  }
  const x = () => heard.execution
  const asking = () => heard.asking
  const idOf = async (value) => {
    await echo(value)
    return (heard.latest.of ?? heard.latest).id
  }
  globalThis.lastSaid ??= 5000
  const send = async (operation, buffers) => {
    const i = ++globalThis.lastSaid
    say({ k: "op", i, x: x(), p: [], ...operation }, buffers)
    while (!heard.answers.has(i)) await new Promise((go) => setTimeout(go, 2))
    const { k, v, e } = heard.answers.get(i)
    return k === "reply" ? { ok: true, v } : { ok: false, e: e?.error?.message }
  }
  const ask = async (operation, buffers) => {
    const { ok, v, e } = await send(operation, buffers)
    if (!ok) throw new Error("refused by the host: " + e)
    return v?.$ === "u" ? undefined : v
  }
  1`
