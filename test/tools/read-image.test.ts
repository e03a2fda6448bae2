import assert from "node:assert/strict"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, type TestContext, test } from "node:test"
import { readImageTool } from "../../src/tools/read-image.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import { failure, textOf, use, workspaces } from "./use.ts"

const image = readImageTool()
const anywhere = readImageTool({ urls: "any" })

const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex")
const images = {
  png,
  jpeg: Buffer.from("ffd8ffe000104a464946", "hex"),
  gif: Buffer.from("GIF89a\x01\x00\x01\x00"),
  webp: Buffer.from("RIFF\x24\x00\x00\x00WEBPVP8 "),
  bmp: Buffer.from("BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00"),
}

describe("read_image", () => {
  test("shows an image of the workspace, of the kind its content says", async (context) => {
    for (const workspace of await workspaces(context, { ...images, "wrong.jpg": png })) {
      for (const [name, bytes] of Object.entries(images)) {
        const result = await use(image, { path: name }, workspace)
        const data = bytes.toString("base64")
        assert.deepEqual(result.images, [{ type: "image", mediaType: `image/${name}`, data }])
        assert.match(result.text, new RegExp(`^Loaded ${name} \\(image/${name}, \\d+ bytes\\)\\.$`))
      }
      const { images: [wrong] = [] } = await use(image, { path: "wrong.jpg" }, workspace)
      assert.equal(wrong?.mediaType, "image/png")
    }
  })

  test("refuses what is no image, whatever its name, and what is too large", async (context) => {
    const files = {
      "a.png": "BM is no picture",
      "b.svg": "<svg/>",
      "c.png": Buffer.concat([png, Buffer.alloc(5_000_000)]),
    }
    for (const workspace of await workspaces(context, files)) {
      assert.match(
        await failure(image, { path: "a.png" }, workspace),
        /^unsupported-image: "a\.png" is no image .*png, jpeg/,
      )
      assert.match(await failure(image, { path: "b.svg" }, workspace), /^unsupported-image: /)
      assert.match(
        await failure(image, { path: "c.png" }, workspace),
        /^image-too-large: "c\.png" is larger than 5\.0 MB/,
      )
      assert.match(await failure(image, { path: "nope.png" }, workspace), /^not-found: /)
      assert.match(await failure(image, { path: "../a.png" }, workspace), /^invalid-path: /)
    }
    assert.equal((await image.accept({})).ok, false)
  })

  test("fetches an image by its URL itself, redirects included", async (context) => {
    const address = await serve(context, (request, response) => {
      if (request.url === "/moved") return response.writeHead(302, { location: "/a.png" }).end()
      response.writeHead(200, { "content-type": "text/plain" }).end(png)
    })
    for (const path of [`${address}/a.png`, `${address}/moved`]) {
      const result = await use(anywhere, { path }, memoryWorkspace())
      assert.deepEqual(result.images, [{ type: "image", mediaType: "image/png", data: png.toString("base64") }])
    }
  })

  test("reads no more of a URL than it may, and says what went wrong", async (context) => {
    const address = await serve(context, (request, response) => {
      if (request.url === "/loop") return response.writeHead(302, { location: "/loop" }).end()
      if (request.url === "/page") return response.end("<html>")
      if (request.url === "/cut") {
        response.writeHead(200, { "content-length": 100 }).write(png, () => response.destroy())
        return
      }
      if (request.url !== "/endless") return response.writeHead(404).end()
      const pour = () => {
        while (response.write(Buffer.alloc(100_000))) {}
      }
      response.on("drain", pour)
      pour()
    })
    const read = (path: string) => failure(anywhere, { path: `${address}${path}` }, memoryWorkspace())
    assert.match(await read("/endless"), /^image-too-large: /)
    assert.match(await read("/page"), /^unsupported-image: /)
    assert.match(await read("/missing"), /^fetch-failed: .*the server answered 404/)
    assert.match(await read("/loop"), /^fetch-failed: .*redirects too often/)
    assert.match(await read("/cut"), /^fetch-failed: /)
    assert.match(
      await failure(anywhere, { path: "http://127.0.0.1:1/" }, memoryWorkspace()),
      /^fetch-failed: .*ECONNREFUSED/,
    )
  })

  test("does not reach into the network it runs in", async (context) => {
    let requests = 0
    const address = await serve(context, (_, response) => {
      requests++
      response.end(png)
    })
    const { port } = new URL(address)
    const hosts = ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0.0.0.0"]
    const others = ["10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "[fd00::1]", "[fe80::1]"]
    for (const host of [...hosts, ...others]) {
      const failed = await failure(image, { path: `http://${host}:${port}/` }, memoryWorkspace())
      assert.match(failed, /^url-not-allowed: .*is not an address on the public internet/, host)
    }
    assert.equal(requests, 0)
  })

  test("follows no redirect to a place it may not read", async (context) => {
    const workspace = memoryWorkspace()
    for (const location of ["file:///etc/passwd", "data:image/png;base64,AAAA", "ftp://example.org/a.png"]) {
      const address = await serve(context, (_, response) => response.writeHead(302, { location }).end())
      assert.match(await failure(anywhere, { path: address }, workspace), /^url-not-allowed: /)
    }
  })

  test("takes paths, http: and https:, nothing else; and no URL where none are allowed", async () => {
    const workspace = memoryWorkspace({ "a:b.png": png })
    for (const path of ["file:///etc/passwd", "data:image/png;base64,AAAA", "ftp://example.org/a.png", "FILE:/x"]) {
      assert.match(
        await failure(image, { path }, workspace),
        /^url-not-allowed: .*only paths of the workspace, http: and https:/,
      )
    }
    assert.match(await textOf(image, { path: "a:b.png" }, workspace), /^Loaded a:b\.png/)
    const none = readImageTool({ urls: "none" })
    assert.match(await failure(none, { path: "https://example.org/a.png" }, workspace), /URLs are not allowed here/)
  })

  test("stops when the run does", async (context) => {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const address = await serve(context, () => resolve())
    const controller = new AbortController()
    const reading = use(anywhere, { path: address }, memoryWorkspace(), controller.signal)
    await asked
    controller.abort()
    await assert.rejects(reading, { name: "AbortError" })
  })
})

async function serve(context: TestContext, handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  // A TCP server's address is never a path.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
