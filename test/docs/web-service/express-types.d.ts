// The part of Express that docs/web-service.md uses. The package has no types of its own.
declare module "express" {
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"

  interface Request extends IncomingMessage {
    body: string
    get(header: string): string | undefined
  }
  type Handler = (req: Request, res: ServerResponse) => unknown
  type App = RequestListener & { post(path: string, parse: unknown, handle: Handler): void }

  function express(): App
  namespace express {
    function text(options?: { type?: string }): unknown
  }
  export default express
}
