// test lane: newcomer, long
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { trajectoryPage } from "../../../src/cli/trajectory/html-page.ts"
import { viewOf } from "../../../src/cli/trajectory/overview.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { findProgram } from "../../../src/providers/find-program.ts"

// The path of the browser, or a program of this name in PATH.
const chromium = findProgram({ binary: "chromium" }, { program: process.env.KARST_CHROMIUM })
const skip = chromium === undefined && "Chromium is not installed (on Debian: apt-get install chromium)"

for (const scheme of ["light", "dark"] as const) {
  test(`Chromium shows the page in ${scheme} colours with its style, and runs nothing in it`, { skip }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "karst-page-"))
    t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
    const attack = `<script>document.title = "owned"</script><img src=x onerror="document.title = 'owned'"><style>*{}</style>`
    const agent = createAgent({
      name: "counter",
      model: scriptedModel([`\`\`\`ts\n"${attack.replaceAll('"', '\\"')}"\n\`\`\``, `It is ${attack}`]),
    })
    const { trajectory } = await agent.run(attack)
    const page = join(folder, "page.html")
    await writeFile(page, trajectoryPage(viewOf(trajectory)))
    const options = [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--enable-logging=stderr",
    ]
    const colours = `--blink-settings=preferredColorScheme=${scheme === "dark" ? 0 : 1}`
    const { stdout, stderr } = await promisify(execFile)(
      chromium ?? "",
      [...options, colours, `--user-data-dir=${join(folder, "profile")}`, "--dump-dom", pathToFileURL(page).href],
      { env: { ...process.env, HOME: folder }, timeout: 50_000, maxBuffer: 2 ** 24 },
    )
    assert.match(stdout, /<title>counter<\/title>/)
    assert.equal(stdout.match(/<section /g)?.length, 3)
    assert.equal(stdout.match(/<img|<script/g), null)
    // A style that the content security policy refuses, or a request that it blocks, is reported to the console.
    assert.doesNotMatch(stderr, /CONSOLE/)
  })
}
