import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"

/** Ids of executions that a peer cannot guess. Each is signed, so that an old one is known without being kept. */
export interface ExecutionIds {
  next(): string
  isIssued(id: string): boolean
}

export function createExecutionIds(): ExecutionIds {
  const key = randomBytes(32)
  let count = 0
  const signed = (number: number) =>
    `${number}-${createHmac("sha256", key).update(`${number}`).digest("hex").slice(0, 32)}`
  return {
    next: () => signed(++count),
    isIssued(id) {
      const number = Number(id.split("-", 1)[0])
      if (!Number.isInteger(number) || number < 1 || number > count) return false
      const expected = Buffer.from(signed(number))
      const given = Buffer.from(id)
      return given.length === expected.length && timingSafeEqual(given, expected)
    },
  }
}
