// Every archived session is a recording. One line replays it as a test, without a model and without outside calls;
// every difference is shown as a diff.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAgent, fn, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { assertReplays } from "karst/testing"

let lookups = 0
const priceOf = async (item: string) => {
  lookups++ // a paid service, say
  return item === "tea" ? 3 : 5
}
const withTax = (amount: number) => amount * 1.2
const runtime = (tax = withTax) => jsRuntime({ priceOf: fn(priceOf), withTax: fn(tax, { sync: true }) })

const model =
  process.env.MODEL ??
  scriptedModel([
    "```ts\nconst [tea, cake] = await Promise.all([priceOf('tea'), priceOf('cake')])\nwithTax(tea + cake).toFixed(2)\n```\n",
    "Tea and cake cost 9.60 with tax.",
  ])

// Once, with a real model: the session is archived.
const archive = await mkdtemp(join(tmpdir(), "karst-"))
const session = await createAgent({ model, runtime: () => runtime() }).session({ archive })
console.log((await session.send("What do tea and cake cost with tax?")).output)
await session.close()
console.log(`${lookups} lookups`)

// Ever after, as a test.
const recording = session.directory ?? ""
const offline = scriptedModel(() => new Error("no model is asked"))
await assertReplays(createAgent({ model: offline, runtime: () => runtime() }), recording)
console.log(`It replays, with ${lookups} lookups as before.`)

// Somebody breaks withTax.
const broken = createAgent({ model: offline, runtime: () => runtime((amount) => amount * 1.02) })
await assertReplays(broken, recording).catch((error: Error) => console.log(`\n${error.message}`))

await rm(archive, { recursive: true })
