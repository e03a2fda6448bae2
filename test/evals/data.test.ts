// test lane: runtimes
import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { columnsText, type Kernels, toolArms } from "../../evals/data/arms.ts"
import { derivePlan } from "../../evals/data/derive-plan.ts"
import { findColumns } from "../../evals/data/find-columns.ts"
import type { Plan } from "../../evals/data/plan.ts"
import { plannedColumns } from "../../evals/data/plan.ts"
import { play } from "../../evals/data/play.ts"
import { answerFields, isCorrect, type Question, sameAnswers } from "../../evals/data/questions.ts"
import * as stats from "../../evals/data/statistics.ts"
import { parseTable } from "../../evals/data/tables.ts"
import { writePython } from "../../evals/data/write-python.ts"
import { writeTypeScript } from "../../evals/data/write-typescript.ts"
import { data } from "../../evals/data.ts"
import { requires } from "../system.ts"

const csv = `City,Max_temp_reading,Rain,Price,Open
Bern,20.5,1,"1,200",1
Basel,24.5,,"2,400",0
Genf,,3,"3,600",1
Chur,18,2,"1,600",1
`
const weather = parseTable("weather.csv", csv)

describe("columns in a question", () => {
  const found = (text: string, atLeast?: number) => findColumns(text, weather.columns, atLeast).map(({ name }) => name)

  test("are found by their words, in the order of the text", () => {
    assert.deepEqual(found("the price and the rain"), ["Price", "Rain"])
  })

  test("are found by abbreviated names only if no exact name is there", () => {
    assert.deepEqual(found("the maximum temperature reading"), ["Max_temp_reading"])
    assert.deepEqual(found("the maximum temperature reading and the rain", 2), ["Max_temp_reading", "Rain"])
    assert.deepEqual(found("rainfall"), ["Rain"])
    assert.deepEqual(found("the price of the rainfall"), ["Price"])
    const height = parseTable("h.csv", "Body height (cm),Id\n170,1\n")
    assert.equal(findColumns("the mean body height", height.columns)[0]?.name, "Body height (cm)")
  })

  test("are not found within other words", () => {
    assert.deepEqual(found("a terrain unopened"), [])
  })
})

describe("a plan", () => {
  test("has the statistics that the names of the answers ask for, with the decimals of the format", () => {
    const plan = planned("What are the mean and the median of the rain?", "@mean_rain[m] @median_rain[d]", {
      format: 'where "m" is rounded to three decimal places and "d" to one decimal place',
    })
    assert.deepEqual(
      plan.values.map(({ name, decimals }) => [name, decimals]),
      [
        ["mean_rain", 3],
        ["median_rain", 1],
      ],
    )
    assert.equal(
      writeTypeScript(plan),
      'console.log("mean_rain", stats.round(stats.mean(table.map((row) => row.Rain)), 3))\n' +
        'console.log("median_rain", stats.round(stats.median(table.map((row) => row.Rain)), 1))',
    )
    assert.match(writePython(plan), /^print\("mean_rain", round\(table\["Rain"\]\.mean\(\), 3\)\)$/m)
  })

  test("reads only the columns that it uses", () => {
    const plan = planned("Is the rain correlated with the price?", "@correlation[r]")
    assert.deepEqual(plannedColumns(plan, weather.columns), ["Rain", "Price"])
  })

  test("says a word that the constraints define, and prints the numbers behind it once", () => {
    const plan = planned("Is there a correlation between rain and price?", "@correlation[r] @relationship_type[t]", {
      constraints:
        "The relationship is linear if the p-value is less than 0.05 and the absolute value of r is greater than or " +
        "equal to 0.5, else nonlinear. Use a significance level (alpha) of 0.05.",
      format: 'where "r" is rounded to two decimal places. where "t" is a string: "linear", "nonlinear", or "none".',
    })
    assert.deepEqual(
      plan.values.map(({ name }) => name),
      ["correlation", "p"],
    )
    const word = (r: string, p: string) =>
      plan.answers[1]?.text(
        new Map([
          ["correlation", r],
          ["p", p],
        ]),
      )
    assert.deepEqual([word("0.7", "0.01"), word("-0.1", "0.01"), word("0.7", "0.2")], ["linear", "nonlinear", "none"])
  })

  test("is refused with a reason if the rules do not cover the question", () => {
    const refusal = (text: string, fields: string) => {
      const plan = derivePlan(question(text, fields), weather.columns)
      return "uncovered" in plan ? plan.uncovered : ""
    }
    assert.equal(refusal("Train a model to predict the rain.", "@score[s]"), "machine learning")
    assert.equal(refusal("What is the mood of the rain?", "@mood[m]"), 'no rule derives "mood"')
    assert.equal(
      refusal('Create a new feature called "Wet" from the clouds. What is its mean, and the rain?', "@mean_wet[m]"),
      "a new column that no rule reads",
    )
    assert.equal(
      refusal("What is the mean depth where City = 'Bern'?", "@mean_depth[m]"),
      'no rule derives "mean_depth"',
    )
  })

  test("does not depend on the answers", () => {
    const asked = question("What is the mean rain?", "@mean_rain[m]")
    const secret = Object.defineProperty({ ...asked }, "answers", {
      get: () => assert.fail("The answers were read."),
    })
    assert.deepEqual(
      JSON.stringify(derivePlan(secret, weather.columns)),
      JSON.stringify(planned(asked.question, "@mean_rain[m]")),
    )
  })
})

describe("the answers of a question", () => {
  test("are the fields of its format, each once", () => {
    assert.deepEqual(answerFields("@a[x], then @b_1[y] or @a[z]"), [
      { key: "a", placeholder: "x" },
      { key: "b_1", placeholder: "y" },
    ])
  })

  test("are right if every closed answer is given, numbers by their value", () => {
    const asked = question("?", "@a[x] @b[y]", {
      answers: [
        ["a", "2.50"],
        ["b", "Yes"],
      ],
    })
    assert.ok(isCorrect(asked, "@b[yes] @a[2.5]"))
    assert.ok(!isCorrect(asked, "@a[2.5]"))
    assert.ok(!isCorrect(asked, "@a[2.51] @b[yes]"))
    assert.ok(sameAnswers("@a[2.50] @b[Yes]", "@a[2.5], @b[yes]"))
    assert.ok(!sameAnswers("@a[2.5] @b[yes]", "@a[2.5]"))
  })
})

describe("the statistics", () => {
  test("skip nulls and agree with known values", () => {
    const values = [2, 4, null, 4, 5, 7, 9]
    assert.equal(stats.round(stats.mean(values), 4), 5.1667)
    assert.equal(stats.median(values), 4.5)
    assert.equal(stats.round(stats.std(values), 4), 2.4833)
    assert.equal(stats.round(stats.skewness(values), 4), 0.5398)
    assert.equal(stats.toNumber("5,350,380"), 5350380)
    assert.equal(stats.toNumber("TIE"), null)
  })

  test("include the p-values of a correlation and of a test for normality, as scipy computes them", () => {
    const { r, p } = stats.pearson([1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 7, 5])
    assert.deepEqual([stats.round(r, 4), stats.round(p, 4)], [0.7918, 0.0605])
    const values = Array.from({ length: 30 }, (_, index) => index ** 1.5)
    assert.equal(stats.round(stats.normalTest(values), 4), 0.0811)
  })
})

describe("a table as text", () => {
  test("keeps the rows whose only cell is empty", () => {
    const text = columnsText(weather, ["Rain"])
    assert.deepEqual(
      parseTable("", text).rows.map(({ Rain }) => Rain),
      [1, null, 3, 2],
    )
  })
})

describe("the suite data", () => {
  const covered = [
    question("What is the mean rain?", "@mean_rain[m] rounded to two decimal places", {
      answers: [["mean_rain", "2"]],
    }),
    question("Which city has the highest price?", "@city[c]", { id: 2, answers: [["city", "Genf"]] }),
  ]
  const asked = [
    ...covered,
    question("Predict the rain.", "@rain[r]", { id: 3, answers: [["rain", "1"]] }),
    question("What is the mean rain?", "@mean_rain[m]", { id: 4, file_name: "gone.csv" }),
    question("What is the mean rain?", "@mean_rain[m]", { id: 5, file_name: "latin.csv" }),
    question("What is the mean rain?", "@mean_rain[m]", { id: 6, file_name: "empty.csv" }),
    { id: 7, question: "What?" },
  ]
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-data-"))
    await mkdir(join(folder, "dabench/tables"), { recursive: true })
    await writeFile(join(folder, "dabench/questions.json"), JSON.stringify(asked))
    await writeFile(join(folder, "dabench/tables/weather.csv"), csv)
    await writeFile(join(folder, "dabench/tables/latin.csv"), Buffer.from("Rain\nstark f\xfcr Bern\n", "latin1"))
    await writeFile(join(folder, "dabench/tables/empty.csv"), "Rain\n")
  })

  after(() => rm(folder, { recursive: true }))

  test("answers from the text that the conversation shows when tables are text", async () => {
    const questions = covered.map((each) => {
      const plan = derivePlan(each, weather.columns)
      assert.ok(!("uncovered" in plan))
      return { question: each, plan }
    })
    for (const arm of toolArms) {
      const record = await play({ id: "t", table: weather, questions }, arm, { kernels: noKernels })
      assert.deepEqual([record.correct, record.problem], [2, undefined])
    }
  })

  test("plays covered questions in every arm and lists the others", {
    skip: requires("python", "pandas"),
  }, async () => {
    const report = await data.run({
      data: folder,
      mode: { type: "oracle" },
      progress: () => {},
      signal: new AbortController().signal,
    })
    assert.deepEqual(
      report.tasks
        .filter(({ task }) => task === "weather.csv")
        .map(({ style, correct, problem }) => [style, correct, problem]),
      ["json", "json-columns", "codeact-ts", "karst-ts", "codeact-py", "karst-py"].map((arm) => [arm, 2, undefined]),
    )
    assert.deepEqual(report.skipped, [
      { what: "questions 3", why: "machine learning" },
      { what: "questions 4, 5", why: "its table is not there, or is not UTF-8" },
      { what: "questions 6", why: "its table has no rows" },
      { what: "questions 7", why: "the question has no constraints" },
    ])
    assert.ok((report.claims?.dataTotal ?? 0) !== 0)
  })
})

const noKernels: Kernels = {
  problem: async () => "no kernel is needed",
  open: () => Promise.reject(new Error("no kernel is needed")),
  [Symbol.asyncDispose]: async () => {},
}

function question(text: string, fields: string, given: Partial<Question> = {}): Question {
  return {
    id: 1,
    question: text,
    constraints: "",
    file_name: "weather.csv",
    level: "easy",
    answers: [],
    ...given,
    format: `${fields} ${given.format ?? ""}`,
  }
}

function planned(text: string, fields: string, given: Partial<Question> = {}): Plan {
  const plan = derivePlan(question(text, fields, given), weather.columns)
  assert.ok(!("uncovered" in plan), "uncovered" in plan ? plan.uncovered : "")
  return plan
}
