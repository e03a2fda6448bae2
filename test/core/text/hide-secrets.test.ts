import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { hideArgument, hideInAddresses, hideSecret } from "../../../src/core/text/hide-secrets.ts"
import fc from "../../property.ts"

describe("what is shown of a text with secrets", () => {
  test("of an address: scheme, host, port and ordinary words of the path", () => {
    const shown = [
      ["https://host:8080/api/v1/", "https://host:8080/api/v1/"],
      ["https://host/key/sk-abc", "https://host/(hidden)/(hidden)"],
      ["https://host/${TOKEN}/v1", "https://host/${TOKEN}/v1"],
      ["https://ada:s3cret@host/v1", "https://(hidden)@host/v1"],
      ["https://ada:s3/cr@t@host/v1", "https://(hidden)@host/v1"],
      ["https://${USER}@host", "https://${USER}@host"],
      ["https://host/mcp?key=s3cret&b=1#s3cret", "https://host/mcp?(hidden)#(hidden)"],
      ["openai-compatible:https://host/s3cret/v1#@cf/llama", "openai-compatible:https://host/(hidden)/v1#@cf/llama"],
      ["https:s3cret@host", "https:(hidden)@host"],
      ["redis://:s3cret@host:6379/0", "redis://(hidden)@host:6379/0"],
      ["no address, ada@example.org, a/b", "no address, ada@example.org, a/b"],
      ["file:///a/key", "file:///a/key"],
      ['see "https://host/s3cret".', 'see "https://host/(hidden)".'],
    ]
    for (const [text = "", expected] of shown) assert.equal(hideInAddresses(text), expected)
  })

  test("of a secret: its variables", () => {
    assert.equal(hideSecret("Bearer ${TOKEN}"), "Bearer ${TOKEN}")
    assert.equal(hideSecret("Bearer s3cret"), "(hidden)")
    assert.equal(hideSecret("s3${A}cret"), "(hidden)${A}(hidden)")
  })

  test("of an argument: names of options, variables, scripts and packages with a scope", () => {
    const same = ["-y", "--token", "${TOKEN}", "--token=${TOKEN}", "server.js", "./a/server.py", "@scope/server@1.2"]
    for (const each of same) assert.equal(hideArgument(each), each)
    const hidden = ["sk-abc", "-psecret", "--token=s3cret", "A=b", "a==", "/data", "https://host/v1", "--s3cret"]
    const shown = hidden.map(hideArgument)
    assert.deepEqual(shown, [...Array(2).fill("(hidden)"), "--token=(hidden)", ...Array(5).fill("(hidden)")])
  })

  test("no part of an address beside its host shows a secret", () => {
    const secret = fc.stringMatching(/^s3cret[\w:@/?#&=%-]{0,8}$/)
    const address = fc.tuple(fc.constantFrom("", "ada:", ":"), secret, fc.constantFrom("@", "/", "?k=", "#"))
    fc.assert(
      fc.property(address, ([before, text, sign]) => {
        const url = sign === "@" ? `https://${before}${text}@host/v1` : `https://host/v1${sign}${text}`
        assert.ok(!hideInAddresses(url).includes("s3cret"), `${url} → ${hideInAddresses(url)}`)
      }),
    )
  })
})
