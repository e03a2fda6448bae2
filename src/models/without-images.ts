// Replaces images by text for models that do not accept images.
import { errorData, ModelError } from "../core/errors.ts"
import type { ImagePart, Message, ResultMessage, UserMessage } from "../core/message.ts"
import type { Model, ModelPart, ModelRequest } from "./model.ts"
import { closableStream, passOnParts, wrapModel } from "./model-stream.ts"

/** Returns the same model; each image is replaced by a line of text. */
export function withoutImages(model: Model): Model {
  return wrapModel(model, (request) => model.stream(withImagesAsText(request)))
}

/** Returns the same model for an endpoint that may not accept images. If it rejects a request because of images, the
 *  request is sent again with text in their place, a warning is raised, and later requests contain no images. */
export function withoutRejectedImages(model: Model): Model {
  let takesImages = true

  async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const failure = yield* passOnParts(model, { ...request, signal })
    if (!failure) return
    const { thrown, started } = failure
    if (started || signal.aborted || !isAboutImages(thrown)) throw thrown
    if (!isAboutOneImage(thrown)) takesImages = false
    request.onWarning?.({ code: "images-rejected", message: rejectionMessage(model.id, thrown) })
    yield* model.stream({ ...withImagesAsText(request), signal })
  }

  return wrapModel(model, (request) => {
    if (!request.messages.some(hasImages)) return model.stream(request)
    if (!takesImages) return model.stream(withImagesAsText(request))
    return closableStream(request.signal, (signal) => answer(request, signal))
  })
}

function withImagesAsText(request: ModelRequest): ModelRequest {
  return {
    ...request,
    messages: request.messages.map((message) => (hasImages(message) ? imagesAsText(message) : message)),
  }
}

function hasImages(message: Message): boolean {
  const known = hasImagesCache.get(message)
  if (known !== undefined) return known
  const found = message.role !== "assistant" && message.parts.some(({ type }) => type === "image")
  hasImagesCache.set(message, found)
  return found
}

// Each request repeats the messages of the previous one, so the result is cached per message.
const hasImagesCache = new WeakMap<Message, boolean>()

function imagesAsText(message: Message): Message {
  if (message.role === "user") return userImagesAsText(message)
  return message.role === "result" ? resultImagesAsText(message) : message
}

function userImagesAsText(message: UserMessage): UserMessage {
  const parts = message.parts.map((part) =>
    part.type === "image" ? { type: "text" as const, text: imageLine(part) } : part,
  )
  return { ...message, parts }
}

// The lines are added to the first result, because the images of a result message follow it.
function resultImagesAsText(message: ResultMessage): ResultMessage {
  const lines = message.parts.flatMap((part) => (part.type === "image" ? [imageLine(part)] : []))
  const [first, ...rest] = message.parts.filter((part) => part.type !== "image")
  if (!first) return { ...message, parts: rest }
  return { ...message, parts: [{ ...first, text: [first.text, ...lines].join("\n") }, ...rest] }
}

function imageLine({ mediaType, data }: ImagePart): string {
  const where = /^https?:/i.test(data) ? ` at ${data.slice(0, 200)}` : `, ${bytesIn(data)} bytes`
  return `[${mediaType.slice(0, 100)} image${where}: not shown, because the model does not take images]`
}

function bytesIn(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0
  return Math.floor((base64.length * 3) / 4) - padding
}

// Providers word this differently, but all mention images.
function isAboutImages(error: unknown): boolean {
  if (!(error instanceof Error) || !/image|vision|multi-?modal|mmproj/i.test(error.message)) return false
  if (!(error instanceof ModelError)) return unsupported.test(error.message)
  if (error.code === "invalid-request") return true
  return (error.code === "not-found" || error.code === "server-error") && unsupported.test(error.message)
}

const unsupported = /support|cannot|can't|not (?:allowed|enabled|available)|only (?:accepts?|takes?) text|text.only/i

/** Returns true if the error is about this image, not about images in general. */
function isAboutOneImage(error: unknown): boolean {
  const { message } = errorData(error)
  if (/(?:not|n't) support|unsupported|no vision/i.test(message) && !/format|media type/i.test(message)) return false
  return /too (?:large|big|many|small)|exceed|dimension|corrupt|decod|process|download|fetch|format|media type/i.test(
    message,
  )
}

function rejectionMessage(id: string, error: unknown): string {
  // The advice in this message does not apply, because the request was changed.
  const message = errorData(error).message.replace(/ Change the request; trying again does not help\.$/, "")
  return `${id} rejected a request with images: ${message} It was sent again with text in their place. Say images: false to send none.`
}
