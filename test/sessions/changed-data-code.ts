// The cells of the changed-data tests in each language.
import type { ChangedDataCode } from "./changed-data-cases.ts"

export const changedDataInTypeScript: ChangedDataCode = {
  tag: "ts",
  read: "JSON.stringify(rows.map(({ n }) => n))",
  readOwn: "JSON.stringify(own.map(({ n }) => n))",
  selectOwn: "const own = rows.filter(({ n }) => n > 1)",
  change: "rows.push({ n: 99 })",
  reassign: "rows = rows.slice(0, 1)",
  changeOwn: "own[0].n += 1",
}

export const changedDataInPython: ChangedDataCode = {
  tag: "python",
  read: 'str([row["n"] for row in rows])',
  readOwn: 'str([row["n"] for row in own])',
  selectOwn: 'own = [row for row in rows if row["n"] > 1]',
  change: 'rows.append({"n": 99})',
  reassign: "rows = rows[:1]",
  changeOwn: 'own[0]["n"] += 1',
}
