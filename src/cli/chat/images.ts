// Shows images of cells and tools: in a terminal with Kitty's graphics protocol, otherwise as the name of a file.
import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ImagePart } from "../../core/message.ts"
import { writeNote } from "../../display/stream-writers.ts"
import { detectImageType } from "../../tools/read-image/image-type.ts"
import type { LiveScreen } from "./live-screen.ts"

/** Returns whether the terminal draws images. tmux does not pass them on. */
function drawsImages(env: NodeJS.ProcessEnv): boolean {
  if (env.TMUX) return false
  const isKnown = ["ghostty", "WezTerm"].includes(env.TERM_PROGRAM ?? "")
  return isKnown || env.KITTY_WINDOW_ID !== undefined || /kitty|ghostty/.test(env.TERM ?? "")
}

/** Creates a function that shows one image after the other. */
export function createImageView(screen: LiveScreen, env: NodeJS.ProcessEnv): (image: ImagePart) => Promise<void> {
  let folder: Promise<string> | undefined
  let count = 0
  return async ({ data }) => {
    const bytes = Buffer.from(data, "base64")
    const type = detectImageType(bytes)
    // An address of the web is part of the conversation; nothing is fetched for it.
    if (!type) return
    const size = pngSize(bytes)
    if (size && drawsImages(env)) return drawImage(screen, bytes, size)
    folder ??= mkdtemp(join(tmpdir(), "karst-images-"))
    const path = join(await folder, `image-${++count}.${type.mediaType.replace(/^image\//, "")}`)
    await writeFile(path, bytes, { mode: 0o600 })
    const pixels = size ? `${size.width} × ${size.height} pixels, ` : ""
    writeNote(screen, "    ", `[image: ${pixels}written to ${path}]`, screen.paint.dim)
  }
}

function drawImage(screen: LiveScreen, bytes: Buffer, { width, height }: ImageSize): void {
  // A character is about twice as high as it is wide.
  const columns = Math.min(60, screen.columns - 4, Math.ceil(width / 8))
  const rows = Math.max(1, Math.min(screen.rows - 4, Math.round((columns * height) / width / 2)))
  // The lines are made first, because an image at the end of the window would be cut.
  screen.writeLines(`${"\n".repeat(rows)}\x1b[${rows}A    ${kittySequence(bytes, columns, rows)}\x1b[${rows}B\r`)
}

/** Returns the sequences that draw a PNG without moving the cursor. */
export function kittySequence(bytes: Buffer, columns: number, rows: number): string {
  const pieces = bytes.toString("base64").match(/.{1,4096}/g) ?? []
  return pieces
    .map((piece, index) => {
      const more = `m=${index < pieces.length - 1 ? 1 : 0}`
      const keys = index === 0 ? `a=T,f=100,q=2,C=1,c=${columns},r=${rows},${more}` : more
      return `\x1b_G${keys};${piece}\x1b\\`
    })
    .join("")
}

interface ImageSize {
  width: number
  height: number
}

/** Returns undefined if the image is no PNG, the only kind that the protocol takes. */
function pngSize(bytes: Buffer): ImageSize | undefined {
  const isPng = bytes.length >= 24 && bytes.toString("latin1", 1, 4) === "PNG"
  const size = isPng ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : undefined
  return size && size.width > 0 && size.height > 0 ? size : undefined
}
