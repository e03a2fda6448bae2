/** Whether JSON gives back the very same: plain, small, with nothing in it twice. Stops looking at what takes long. */
export function isSimple(message: object): boolean {
  return holdsSimple(message, [])
}

/** `seen` has each object on the way: JSON would write one that is there twice as two. */
function holdsSimple(holder: object, seen: object[]): boolean {
  if (seen.length >= mostObjects || seen.includes(holder)) return false
  // Its own, or one that somebody has given to all objects.
  if ("toJSON" in holder) return false
  seen.push(holder)
  if (Array.isArray(holder)) return isList(holder) && holder.every((element) => isSimplePart(element, seen))
  if (Object.getPrototypeOf(holder) !== Object.prototype) return false
  for (const key of Object.keys(holder)) {
    if (!isSimplePart((holder as Record<string, unknown>)[key], seen)) return false
  }
  return true
}

function isSimplePart(part: unknown, seen: object[]): boolean {
  switch (typeof part) {
    case "boolean":
      return true
    case "string":
      return part.length <= longestText
    case "number":
      // JSON has neither of the others.
      return Number.isFinite(part) && !Object.is(part, -0)
    case "object":
      return part === null || holdsSimple(part, seen)
    default:
      return false
  }
}

/** Short, and nothing but its elements: `every` passes over a hole, and JSON over a field. */
function isList(array: readonly unknown[]): boolean {
  return array.length <= mostElements && Object.keys(array).length === array.length
}

const mostObjects = 32
const mostElements = 64
const longestText = 10_000
