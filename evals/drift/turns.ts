// The turns of the suite `drift`: a cell in each language, and the variables that are expected after it, computed apart
// from any runtime.

export type Language = "typescript" | "python"
export type Variables = Record<string, unknown>

export interface Sale {
  id: number
  city: string
  units: number
  price: number
}

export interface DriftTurn {
  user: string
  typescript: string
  python: string
  /** Changes a copy of the variables as the cell should, and returns them. */
  expect(variables: Variables): Variables
}

export function salesTable(): Sale[] {
  const cities = ["Bern", "Basel", "Chur"]
  return Array.from({ length: 30 }, (_, index) => ({
    id: index + 1,
    city: cities[index % 3] ?? "",
    units: (index * 7) % 11,
    price: 10.5 + index,
  }))
}

/** A round of eight turns that is played three times with other names and numbers, and a last turn. */
export const driftTurns: readonly DriftTurn[] = [...[1, 2, 3].flatMap(round), lastTurn()]

function round(n: number): DriftTurn[] {
  const limit = n + 2
  const city = ["Bern", "Basel", "Chur"][n - 1] ?? ""
  const set = (name: string, value: (variables: Variables) => unknown) => (variables: Variables) => ({
    ...variables,
    [name]: value(variables),
  })
  return [
    {
      user: `Which sales have more than ${limit} units?`,
      typescript: `const many${n} = table.filter((row) => row.units > ${limit})`,
      python: `many${n} = [row for row in table if row["units"] > ${limit}]`,
      expect: set(`many${n}`, ({ table }) => sales(table).filter(({ units }) => units > limit)),
    },
    {
      user: "How many units are these?",
      typescript: `let units${n} = many${n}.reduce((sum, row) => sum + row.units, 0)`,
      python: `units${n} = sum(row["units"] for row in many${n})`,
      expect: set(`units${n}`, (own) => sum(sales(own[`many${n}`]).map(({ units }) => units))),
    },
    {
      user: `Make a table of the sales in ${city}.`,
      typescript: `const part${n}_df = table.filter((row) => row.city === "${city}").map(({ id, units }) => ({ id, units }))`,
      python: `part${n}_df = pd.DataFrame(table)\npart${n}_df = part${n}_df[part${n}_df["city"] == "${city}"][["id", "units"]].reset_index(drop=True)`,
      expect: set(`part${n}_df`, ({ table }) =>
        sales(table).flatMap(({ id, city: own, units }) => (own === city ? [{ id, units }] : [])),
      ),
    },
    {
      user: "Double the units in that table.",
      typescript: `for (const row of part${n}_df) row.units *= 2`,
      python: `part${n}_df["units"] = part${n}_df["units"] * 2`,
      expect: set(`part${n}_df`, (own) => sales(own[`part${n}_df`]).map((row) => ({ ...row, units: row.units * 2 }))),
    },
    {
      user: "Raise the first price of the table.",
      typescript: "table[0].price += 0.2",
      python: 'table[0]["price"] += 0.2',
      expect: set("table", ({ table }) =>
        sales(table).map((row, at) => (at === 0 ? { ...row, price: row.price + 0.2 } : row)),
      ),
    },
    {
      user: "Count the sales of each city.",
      typescript: `const counts${n} = {}\nfor (const { city } of many${n}) counts${n}[city] = (counts${n}[city] ?? 0) + 1`,
      python: `counts${n} = {city: sum(row["city"] == city for row in many${n}) for city in dict.fromkeys(row["city"] for row in many${n})}`,
      expect: set(`counts${n}`, (own) => {
        const counts: Record<string, number> = {}
        for (const { city: name } of sales(own[`many${n}`])) counts[name] = (counts[name] ?? 0) + 1
        return counts
      }),
    },
    {
      user: "Add one to the units, and look at a column that does not exist.",
      typescript: `units${n} += 1\nthrow new Error("there is no such column")`,
      python: `units${n} += 1\nraise KeyError("there is no such column")`,
      expect: set(`units${n}`, (own) => Number(own[`units${n}`]) + 1),
    },
    {
      user: "Write a label.",
      typescript: `var label = "round ${n}: " + units${n}`,
      python: `label = f"round ${n}: {units${n}}"`,
      expect: set("label", (own) => `round ${n}: ${own[`units${n}`]}`),
    },
  ]
}

function lastTurn(): DriftTurn {
  return {
    user: "Sum up the three rounds.",
    typescript: "const totals = [units1, units2, units3]",
    python: "totals = [units1, units2, units3]",
    expect: (own) => ({ ...own, totals: [own.units1, own.units2, own.units3] }),
  }
}

function sales(value: unknown): Sale[] {
  return Array.isArray(value) ? value : []
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
