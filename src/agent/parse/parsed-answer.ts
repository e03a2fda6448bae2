// What the parser returns: the pieces of an answer while it streams, and the whole answer.

export type ParsedPiece =
  | { type: "text"; text: string }
  | { type: "code-start"; tag: string }
  | { type: "code"; text: string }
  | { type: "code-end" }

export interface ParsedAnswer {
  text: string
  code?: { tag: string; code: string; closed: boolean } | undefined
  /** Another block that is meant to run follows the code. It is not run. */
  hasMoreCode?: true | undefined
  /** Nothing was run, and the answer is not final: the message for the model that says what to do. */
  sendBack?: string | undefined
}
