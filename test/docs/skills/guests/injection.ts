// injection.ts
export interface Guest {
  name: string
}

/** Greets somebody. */
export function greet(guest: Guest): string {
  return `Hello ${guest.name}`
}

export const limits = { guests: 12 }
