// A real Python kernel: records go in as a DataFrame, the model writes Python, records come out again.
// Python's own objects stay there: a fitted model comes back as a handle whose methods you call from TypeScript.
import { createAgent, variable } from "karst"
import { scriptedModel } from "karst/models"
import { pythonRuntime, table } from "karst/python"
import * as z from "zod"

const sales = Array.from({ length: 24 }, (_, month) => ({
  month,
  region: month % 2 ? "north" : "south",
  amount: 100 + 5 * month + (month % 3),
}))

const setup = `
class Trend:
    """A straight line through points."""
    def fit(self, x, y):
        import numpy
        self.slope, self.start = numpy.polyfit(x, y, 1)
        return self
    def predict(self, x: float) -> float:
        """The value of the line at x."""
        return float(self.slope * x + self.start)
`

await using runtime = pythonRuntime(
  { sales: variable(table(sales), "Monthly sales: month, region, amount") },
  { setup },
)

const model =
  process.env.MODEL ??
  scriptedModel([
    "```python\nby_region = sales.groupby('region', as_index=False).amount.mean()\ntrend = Trend().fit(sales.month, sales.amount)\nby_region\n```\n",
    "The north sells a little more than the south, and sales grow by about 5 a month. The fitted line is in `trend`.",
  ])

const { output } = await createAgent({ model, runtime }).run("Compare the regions and fit a trend.")
console.log(output)
console.table(await runtime.retrieve("by_region", z.array(z.object({ region: z.string(), amount: z.number() }))))

const trend = await runtime.retrieve("trend", z.custom<{ predict(month: number): Promise<number> }>())
console.log("next month, asked of the Python object:", (await trend.predict(24)).toFixed(1))
