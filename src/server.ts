// karst/server: runs as server-sent events, for web services.

export { type BrowserEvent, type BrowserEventError, toBrowserEvent } from "./server/browser-event.ts"
export { type BrowserMessage, toBrowserMessages } from "./server/browser-messages.ts"
export type { StreamOptions } from "./server/stream-options.ts"
export { toNode } from "./server/to-node.ts"
export { type ResponseOptions, toResponse } from "./server/to-response.ts"
