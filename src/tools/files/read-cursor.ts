// The cursor with which `read_file` continues: a position in one version of a file.
import { createHash } from "node:crypto"
import type { FileInfo } from "../../workspaces/workspace.ts"

export interface Cursor {
  line: number
  byte: number
  /** The last requested line. */
  endLine: number
  version: string
}

export function formatCursor({ line, byte, endLine }: Omit<Cursor, "version">, info: FileInfo | undefined): string {
  return [line, byte, Number.isFinite(endLine) ? endLine : "", versionOf(info)].join("-")
}

export function parseCursor(text: string): Cursor | undefined {
  const [, line, byte, endLine, version = ""] =
    /^(\d{1,15})-(\d{1,15})-(\d{0,15})-([0-9a-f]{8})$/.exec(text.trim()) ?? []
  if (version === "") return undefined
  return { line: Number(line), byte: Number(byte), endLine: endLine ? Number(endLine) : Infinity, version }
}

export function isCursorOf({ version }: Cursor, info: FileInfo | undefined): boolean {
  return version === versionOf(info)
}

function versionOf(info: FileInfo | undefined): string {
  return createHash("sha256").update(`${info?.path}\n${info?.etag}`).digest("hex").slice(0, 8)
}
