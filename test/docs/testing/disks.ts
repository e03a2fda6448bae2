// A function for the programs of docs/testing.md, and the calls of it.
export const wiped: string[] = []

export function wipe(disk: string): void {
  wiped.push(disk)
}
