// Answers in place of the model services of the internet, for snippets of pages that name a real model.
import type { TestContext } from "node:test"
import { type Behaviour, type ModelServer, modelServer } from "../fixtures/model-server.ts"
import { useEnvironment } from "./use-environment.ts"

export interface AnsweringServices {
  /** The loopback server with the requests so far. */
  server: ModelServer
  /** The addresses that were asked. */
  addresses: string[]
}

/** Sends every request of `fetch` to a loopback model with these answers, and sets the API key, until the test ends. */
export async function answerAsServices(
  t: TestContext,
  keyName: string,
  answers: readonly (string | Behaviour)[],
): Promise<AnsweringServices> {
  const server = await modelServer(
    ...answers.map((answer) => (typeof answer === "string" ? { text: [answer] } : answer)),
  )
  t.after(() => server[Symbol.asyncDispose]())
  useEnvironment(t, { [keyName]: "a-key" })
  const addresses: string[] = []
  const { fetch } = globalThis
  t.mock.method(globalThis, "fetch", (input: string | URL | Request, init?: RequestInit) => {
    const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
    addresses.push(`${origin}${pathname}`)
    return fetch(new URL(pathname, server.url), init)
  })
  return { server, addresses }
}
