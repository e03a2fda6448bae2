// test lane: durable, long
// The programs of docs/deploying-workers.md, which are in test/docs/deploying-workers, run as they are shown there.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { startKarst } from "../cli/karst.ts"
import { modelServer } from "../fixtures/model-server.ts"
import { startRedis } from "../redis.ts"
import { requires } from "../system.ts"

const folder = fileURLToPath(new URL("./deploying-workers", import.meta.url))
const textOf = (path: string) => readFile(new URL(path, import.meta.url), "utf8")

test("a server submits a run, and the worker of the page executes it and ends on SIGTERM", {
  skip: requires("redis"),
}, async (t) => {
  const [, command = ""] = /^\$ karst (worker .*)$/m.exec(await textOf("../../docs/deploying-workers.md")) ?? []
  assert.deepEqual(command.split(" ").slice(0, -2), (await commandOfImage()).args)
  assert.deepEqual(command.split(" ").slice(-2), ["--max-parallel", "8"])
  assert.ok((await textOf("../../docs/scaling.md")).includes(`\nkarst ${command}\n`))

  await using redis = await startRedis()
  await using model = await modelServer({ text: ["```ts\ndb.sumOf('May')\n```"] }, { text: ["May is closed: 12,400."] })
  const server = spawn(
    process.execPath,
    ["--conditions=karst-source", "--disable-warning=ExperimentalWarning", `${folder}/server.ts`],
    { env: { ...process.env, REDIS_URL: redis.url }, stdio: ["ignore", "pipe", "inherit"] },
  )
  t.after(() => server.kill("SIGKILL"))
  const printed = once(createInterface(server.stdout), "line")

  // The worker has the key; the server needs none.
  const keys = { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${model.url}/v1` }
  const args = command.split(" ").map((part) => (part === "redis://cache:6379" ? redis.url : part))
  const worker = startKarst(args, keys, folder)
  t.after(() => worker.child.kill("SIGKILL"))
  const failed = worker.ended.then(({ stderr }) => assert.fail(stderr))
  assert.deepEqual(await Promise.race([printed, failed]), ["May is closed: 12,400."])
  assert.match(JSON.stringify(model.requests[1]?.body), /12,400 in May/)

  worker.child.kill("SIGTERM")
  assert.equal((await worker.ended).code, 0)
})

test("the image of the page has the Node and the program that Karst needs", async () => {
  const { engines, bin } = JSON.parse(await textOf("../../package.json"))
  const { image, program } = await commandOfImage()
  assert.equal(engines.node, `>=${/^node:(\d+)-slim$/.exec(image)?.[1]}`)
  assert.ok(
    Object.keys(bin).some((name) => program === `node_modules/.bin/${name}`),
    program,
  )
})

async function commandOfImage(): Promise<{ image: string; program: string; args: string[] }> {
  const file = await textOf("./deploying-workers/Dockerfile")
  const [program = "", ...args]: string[] = JSON.parse(/^CMD (.*)$/m.exec(file)?.[1] ?? "[]")
  return { image: /^FROM (.*)$/m.exec(file)?.[1] ?? "", program, args }
}
