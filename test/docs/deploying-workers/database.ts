// The database of the agents in docs/deploying-workers.md.
export function openDatabase() {
  return { sumOf: (month: string) => `12,400 in ${month}` }
}
