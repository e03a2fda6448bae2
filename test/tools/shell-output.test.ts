// test lane: runtimes
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createPreview, toReadableText } from "../../src/tools/shell/output-preview.ts"
import { readOnlyWorkspace } from "../../src/workspaces/read-only.ts"
import fc from "../property.ts"
import { until } from "../waiting.ts"
import { shellCase } from "./shell-case.ts"

const withoutProc = existsSync("/proc/self/fd") ? undefined : "by design: only Linux says what a pipe is called"

describe("output", () => {
  test("that is short leaves no file in the workspace", async (t) => {
    const { run, workspace } = shellCase(t)
    await run({ command: "echo short" })
    assert.deepEqual(await Array.fromAsync(workspace.list()), [])
  })

  test("that is long is shown by its beginning and its end, and is whole in the workspace", async (t) => {
    const { run, workspace } = shellCase(t)
    const { text, report } = await run({ command: "seq 1 50000; echo problem; exit 1" })
    assert.ok(text.length < 5000, `${text.length}`)
    assert.match(text, /^Exit code 1\.\n1\n2\n3\n/)
    assert.match(text, /\n… 285 KB left out; all of it is in \.karst\/commands\/c1-\w+\.log …\n\d+\n/)
    assert.match(text, /\n49999\n50000\nproblem\n$/)
    const whole = Buffer.from(await workspace.read(report.log ?? "")).toString()
    assert.equal(whole, `${Array.from({ length: 50_000 }, (_, index) => index + 1).join("\n")}\nproblem\n`)
  })

  test("is in the workspace while a command still runs, and complete once it has ended", async (t) => {
    const { run, workspace, root, checkUp } = shellCase(t)
    const command = "seq 1 5000; while [ ! -e go ]; do sleep 0.01; done; echo end"
    let log = ""
    let id = ""
    // On a busy machine the command may not have written yet.
    await until(async () => {
      const { report } = await run({ command, timeoutMs: 200 })
      id = report.id
      log = report.log ?? ""
      return log
    })
    assert.match(Buffer.from(await workspace.read(log)).toString(), /^1\n2\n/)
    writeFileSync(join(root, "go"), "")
    assert.match((await checkUp({ id, waitMs: 60_000 })).text, /end\n$/)
    assert.match(Buffer.from(await workspace.read(log)).toString(), /\n4999\n5000\nend\n$/)
  })

  test("is never written through a link that leads out of the workspace", async (t) => {
    const { run, root } = shellCase(t)
    const outside = shellCase(t)
    mkdirSync(join(root, ".karst"))
    symlinkSync(outside.root, join(root, ".karst", "commands"))
    const { ok, text, report } = await run({ command: "seq 1 50000" })
    assert.equal(ok, true)
    assert.match(text, /left out; it could not be kept: .*leads out of the workspace/)
    assert.equal(report.log, undefined)
    assert.deepEqual(await Array.fromAsync(outside.workspace.list()), [])
  })

  test("that cannot be kept is said to be lost, and the command ends well", async (t) => {
    const { run, root, workspace } = shellCase(t)
    const { text, ok } = await run({ command: "seq 1 50000" }, { workspace: { ...readOnlyWorkspace(workspace), root } })
    assert.equal(ok, true)
    assert.match(text, /could not be kept: .*read-only/)
  })

  test("beyond the limit is dropped, with a clear end, and neither disk nor memory fill up", async (t) => {
    const { run, workspace, progressTexts } = shellCase(t, { maxOutputBytes: 1_000_000 })
    const before = process.memoryUsage().rss
    let peak = 0
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss)
    }, 5)
    t.after(() => clearInterval(watch))
    const { ok, text, report } = await run({ command: "yes 0123456789abcde | head -c 256000000; echo the end" })
    assert.equal(ok, true)
    assert.match(text, /\nthe end\nOutput beyond 1.0 MB was dropped\.$/)
    const log = await workspace.stat(report.log ?? "")
    assert.ok(log && log.sizeBytes < 1_000_100, `${log?.sizeBytes}`)
    const kept = Buffer.from(await workspace.read(report.log ?? "", { start: log.sizeBytes - 100 })).toString()
    assert.match(kept, /\nOutput beyond 1.0 MB was dropped\.\n$/)
    // The number of progress reports depends on the time that the command takes, and their length does not.
    assert.ok(Math.max(...progressTexts.map(({ length }) => length)) < 5000, "a single progress report stays short")
    assert.ok(progressTexts.join("").length < 10_000_000)
    assert.ok(peak - before < 128_000_000, `${peak - before}`)
  })

  test("that is not valid UTF-8 is shown with the bad bytes replaced, and kept as it is", async (t) => {
    const { run } = shellCase(t)
    assert.equal((await run({ command: "printf 'gr\\xfcn und gut\\n'" })).text, "gr\u{fffd}n und gut\n")
    const { run: runLong, root } = shellCase(t)
    const { report } = await runLong({ command: "printf '\\xfc'; seq 1 50000" })
    assert.equal(readFileSync(join(root, report.log ?? ""))[0], 0xfc)
  })

  test("that is no text is counted, not shown", async (t) => {
    const { run } = shellCase(t)
    const { text } = await run({ command: "head -c 3000 /dev/urandom" })
    assert.equal(text, "(3000 bytes that are no text)")
    assert.equal((await run({ command: "printf 'a.txt\\0b.txt\\0c.txt\\0some.txt'" })).text.includes("\0"), false)
  })

  test("of a terminal is shown as people would see it", () => {
    const text = "\u001b[32mok\u001b[0m\r\n10%\r20%\r100%\nbell\u0007 rung\n"
    assert.equal(toReadableText(Buffer.from(text)), "ok\n100%\nbell\u{fffd} rung\n")
  })

  test("with a log is not left behind elsewhere", { skip: withoutProc }, async (t) => {
    const { run, tools } = shellCase(t)
    // The folder of this shell is the one that contains its pipe.
    const { report } = await run({ command: "seq 1 50000; readlink /proc/self/fd/1" })
    const [folder = ""] = /\/\S*karst-shell-[^/\s]+/.exec(report.output) ?? []
    assert.ok(existsSync(folder))
    await tools.close()
    assert.equal(existsSync(folder), false)
  })
})

describe("a preview", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.string({ unit: "grapheme", maxLength: 100 }).map((text) => new Uint8Array(Buffer.from(text))),
  )

  test("does not depend on how the output was cut into pieces", () => {
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(40)), fc.integer({ min: 12, max: 400 }), (all, cuts, limit) => {
        const whole = createPreview(limit)
        whole.add(all)
        const inPieces = createPreview(limit)
        for (const piece of pieces(all, cuts)) inPieces.add(piece)
        assert.deepEqual(inPieces.take(true), whole.take(true))
      }),
    )
  })

  test("is everything when there is room, and counts what it leaves out when there is not", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.integer({ min: 12, max: 400 }), (text, limit) => {
        const all = Buffer.from(text.replace(/\p{Cc}|\u{feff}|\u{fffd}/gu, ""))
        const shown = createPreview(limit)
        shown.add(all)
        const { head, tail, leftOut } = shown.take(true)
        const whole = all.toString()
        if (all.length <= limit) return assert.deepEqual([head, tail, leftOut], [whole, "", 0])
        assert.ok(whole.startsWith(head) && whole.endsWith(tail), "no character is cut")
        assert.equal(Buffer.byteLength(head) + Buffer.byteLength(tail) + leftOut, all.length)
        assert.ok(Buffer.byteLength(head + tail) <= limit)
      }),
    )
  })

  test("taken again and again gives every character once", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.array(fc.nat(7)), (text, cuts) => {
        const all = Buffer.from(text.replace(/\p{Cc}|\u{feff}|\u{fffd}/gu, ""))
        const shown = createPreview(2000)
        let seen = ""
        for (const piece of pieces(all, cuts)) {
          shown.add(piece)
          seen += shown.take(false).head
        }
        assert.equal(seen + shown.take(true).head, all.toString())
      }),
    )
  })
})

function pieces(all: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  let from = 0
  const cut = lengths.map((length) => {
    from += length
    return all.subarray(from - length, from)
  })
  return [...cut, all.subarray(from)]
}
