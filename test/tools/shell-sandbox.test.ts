// test lane: runtimes
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { requires } from "../system.ts"
import { until } from "../waiting.ts"
import { alive, shellCase } from "./shell-case.ts"

describe("a sandboxed shell", { skip: requires("bwrap") }, () => {
  test("works as any other in the workspace", async (t) => {
    const { run, root, tools } = shellCase(t, { sandbox: "os" })
    mkdirSync(join(root, "a folder"))
    assert.equal(tools.commands.sandbox, "os")
    const { text, ok } = await run({
      command: "pwd; cat > made; echo err > /dev/stderr",
      cwd: "a folder",
      stdin: "text",
    })
    assert.deepEqual([ok, text], [true, `${root}/a folder\nerr\n`])
    assert.equal(readFileSync(join(root, "a folder", "made"), "utf8"), "text")
    assert.equal((await run({ command: "exit 5" })).report.exitCode, 5)
    assert.match((await run({ command: "true", cwd: "missing" })).text, /no folder "missing"/)
  })

  test("can read but not change the configuration of Karst in the workspace", async (t) => {
    const { run, root } = shellCase(t, { sandbox: "os" })
    mkdirSync(join(root, ".karst", "agents"), { recursive: true })
    writeFileSync(join(root, "karst.config.ts"), "export default {}")
    const changes = [
      "echo x > karst.config.ts",
      "rm karst.config.ts",
      "mv karst.config.ts other",
      "touch .karst/agents/a.md",
    ]
    const command = changes.map((each) => `(${each}) 2>/dev/null && echo "did ${each}"`).join("\n")
    assert.equal((await run({ command: `${command}\ncat karst.config.ts` })).text, "export default {}")
    assert.equal(existsSync(join(root, ".karst/agents/a.md")), false)
  })

  test("can write nowhere but in the workspace and in temporary files of its own", async (t) => {
    const { run, root } = shellCase(t, { sandbox: "os" })
    const outside = mkdtempSync(join(tmpdir(), "karst-test-outside-"))
    t.after(() => rmSync(outside, { recursive: true, force: true }))
    symlinkSync(outside, join(root, "out"))
    const places = ["/usr/x", "/etc/x", "/x", "/proc/sys/kernel/core_pattern", "/dev/x", `${outside}/x`, "out/x"]
    const command = places.map((path) => `(echo > '${path}') 2>/dev/null && echo wrote '${path}'`).join("\n")
    assert.equal((await run({ command: `${command}\necho 1 > /tmp/one && echo > here; true` })).text, "(no output)")
    assert.equal(existsSync(join(root, "here")), true)
    assert.equal((await run({ command: "cat /tmp/one" })).text, "1\n", "what is temporary stays for the next command")
    assert.equal(existsSync(join(outside, "x")), false)
  })

  test("does not see other files of the host, unless they are given to read", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "karst-test-outside-"))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, "secret"), "hidden")
    const command = `cat ${folder}/secret; echo changed > ${folder}/secret`
    assert.doesNotMatch((await shellCase(t, { sandbox: "os" }).run({ command })).text, /hidden/)
    assert.match((await shellCase(t, { sandbox: "os", read: [folder] }).run({ command })).text, /^Exit.*\nhidden/)
    assert.equal(readFileSync(join(folder, "secret"), "utf8"), "hidden")
  })

  test("cannot reach what is kept of its output", async (t) => {
    const { run } = shellCase(t, { sandbox: "os" })
    const { text } = await run({ command: `find ${tmpdir()} /tmp -path '*karst-shell*'; echo found` })
    assert.match(text, /found\n$/)
    assert.doesNotMatch(text, /\.(log|pipe|in)\b/)
  })

  test("has no network unless it is given one", async (t) => {
    const server = createServer((_, response) => response.end("reached")).listen(0, "127.0.0.1")
    await new Promise((resolve) => server.once("listening", resolve))
    t.after(() => server.close())
    // A server that listens on a port has this type of address.
    const { port } = server.address() as AddressInfo
    const command = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`
    assert.doesNotMatch((await shellCase(t, { sandbox: "os" }).run({ command })).text, /reached/)
    assert.match((await shellCase(t, { sandbox: "os", network: "all" }).run({ command })).text, /reached/)
  })

  test("sees no processes but its own", async (t) => {
    const { run } = shellCase(t, { sandbox: "os" })
    const { text } = await run({
      command: `[ -e /proc/${process.pid}/environ ] && cat /proc/${process.pid}/environ; kill -0 ${process.pid}`,
    })
    assert.match(text, /No such process|not permitted/)
  })

  test("takes everything with it, also a daemon that hides from everybody", async (t) => {
    const { run, tools, mark, root } = shellCase(t, { sandbox: "os" })
    const daemon = "(setsid env -i TAG=karst-daemon sh -c 'touch ready; while :; do sleep 0.05; done' &)"
    await run({ command: `${daemon}; sleep 1000`, background: true })
    await until(() => existsSync(join(root, "ready")))
    assert.notDeepEqual(alive("TAG=karst-daemon"), [])
    await tools.close()
    assert.deepEqual([...alive(mark), ...alive("TAG=karst-daemon")], [])
  })

  test("lets a command end by itself when it is killed", async (t) => {
    const { run, checkUp, root } = shellCase(t, { sandbox: "os" })
    await run({ command: "trap 'echo bye; exit' TERM; touch ready; while :; do sleep 0.01; done", background: true })
    await until(() => existsSync(join(root, "ready")))
    assert.match((await checkUp({ id: "c1", kill: true })).text, /bye/)
  })

  test("says to the model what it cannot do", (t) => {
    assert.match(shellCase(t, { sandbox: "os" }).shell.description, /write only there, and has no network/)
    assert.doesNotMatch(shellCase(t, { sandbox: "os", network: "all" }).shell.description, /no network/)
    assert.doesNotMatch(shellCase(t).shell.description, /write only/)
  })
})

describe("where a sandbox cannot be had", () => {
  // The sandbox is probed once per process, so each case runs in its own process with another platform.
  function ask(sandbox: string) {
    const program = `
      Object.defineProperty(process, "platform", { value: "darwin" })
      const { shellTools } = await import(${JSON.stringify(new URL("../../src/tools/shell.ts", import.meta.url).href)})
      const { commands } = shellTools({ sandbox: "${sandbox}" })
      console.log(commands.sandbox, commands.warning)`
    const args = ["--input-type=module", "--conditions=karst-source", "-e", program]
    const cwd = fileURLToPath(new URL("../..", import.meta.url))
    return spawnSync(process.execPath, args, { encoding: "utf8", cwd })
  }

  test('"os" is an error that says why, and nothing runs', () => {
    assert.match(ask("os").stderr, /UnsupportedError: shell: sandbox "os" cannot be had: bubblewrap needs Linux/)
  })

  test('"auto" does without, and says so', () => {
    assert.equal(
      ask("auto").stdout,
      "none Commands run without a sandbox: bubblewrap needs Linux, and this is darwin. Run code that you do not trust in a container or on Linux.\n",
    )
  })
})
