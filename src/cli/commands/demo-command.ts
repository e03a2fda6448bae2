// `karst demo`: an agent analyses weather data and plans a sprinkler, with a replayed or a real model.
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as after } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { type CsvRow, parseCsv } from "../../core/data-files/csv.ts"
import { drawBars } from "../../display/draw-bars.ts"
import { wantsColor } from "../../display/paint.ts"
import { safeLine } from "../../display/safe-text.ts"
import { createScreen, type Screen } from "../../display/screen.ts"
import { writeWrapped } from "../../display/stream-writers.ts"
import { display } from "../../display.ts"
import type { Model } from "../../models/model.ts"
import { replayModel } from "../../models/recording.ts"
import { resolveModel } from "../../models/resolve.ts"
import { fn, variable } from "../../runtime/bindings.ts"
import type { Input } from "../command.ts"
import { exitCode, interruptible } from "../interruptible-run.ts"
import { builtInAgent } from "../run/built-in-agent.ts"
import type { demoOptions } from "../table/work.ts"
import { UsageError } from "../usage-error.ts"
import { drawSvg } from "./demo/draw.ts"
import { type Chart, Charts, Sprinkler } from "./demo/objects.ts"

const dataFolder = new URL("../../../data/", import.meta.url)

const task =
  "How does the rain fall in Seattle over the year? Load seattle-weather.csv, chart it, then set the sprinkler so that " +
  "the garden gets 80 mm of water in each month from May to September."

export async function demoCommand({ values }: Input<typeof demoOptions>): Promise<number> {
  const { mode = "full" } = values
  const folder = await outputFolder(values.out)
  const model = values.model === undefined ? replayedModel(values.fast) : await resolveModel(values.model)

  // Objects of this program: the agent works on them directly.
  const charts = new Charts()
  const sprinkler = new Sprinkler()
  const agent = builtInAgent({
    model,
    inProcess: true,
    bindings: {
      loadCsv: fn(loadCsv, {
        description: "Reads a CSV file of the demo's data folder.",
        signature: "(name: string) => Promise<Record<string, any>[]>",
      }),
      charts: variable(charts, "Collects charts, which the program draws."),
      sprinkler: variable(sprinkler, "The garden's sprinkler."),
    },
  })

  const screen = createScreen(process.stdout, { color: wantsColor(process.stdout) })
  const isShown = mode === "full" || mode === "short"
  const run = agent.run(task)
  const result = await interruptible(run, () => {
    if (isShown) introduce(screen, values.model)
    return display(run, { mode })
  })
  const pictures = await writePictures(charts.all, folder)
  if (isShown && result.status === "done") readBack(screen, charts, sprinkler, pictures)
  return exitCode(result)
}

async function loadCsv(name: string): Promise<CsvRow[]> {
  if (!/^[\w-]+\.csv$/.test(name)) throw new Error(`loadCsv: "${name}" is not the name of a CSV file.`)
  return parseCsv(await readFile(new URL(name, dataFolder), "utf8"))
}

// Replays at a readable pace: a short pause before each answer, then a steady stream.
function replayedModel(fast: boolean): Model {
  const model = replayModel(fileURLToPath(new URL("demo.jsonl", dataFolder)), { delayMs: fast ? 0 : 15 })
  if (fast) return model
  return {
    ...model,
    async *stream(request) {
      await after(300, undefined, { signal: request.signal })
      yield* model.stream(request)
    },
  }
}

function introduce(screen: Screen, model: string | undefined): void {
  const { bold, dim, cyan } = screen.paint
  const who =
    model === undefined ? "The model's turns are replayed from a recording." : `The model is ${safeLine(model)}.`
  const live =
    "Everything else is live: its code runs in this process, reads the file and changes these objects of the program:"
  writeWrapped(screen, { mark: "" }, { text: "Karst demo.", paint: bold }, { text: ` ${who}` })
  writeWrapped(screen, { mark: "" }, { text: live })
  screen.ensureBlankLine()
  for (const [name, text] of [
    ["loadCsv", "reads Seattle's daily weather 2012–2015 (NOAA, public domain)"],
    ["charts", "collects charts; none yet"],
    ["sprinkler", "waters the garden; nothing planned yet"],
  ] as const)
    writeWrapped(screen, { mark: `  ${name.padEnd(9)}  `, paintMark: cyan }, { text, paint: dim })
  screen.writeLines("")
}

async function outputFolder(asked: string | undefined): Promise<string> {
  if (asked === undefined) return mkdtemp(join(tmpdir(), "karst-demo-"))
  await mkdir(asked, { recursive: true }).catch((error: Error) => {
    throw new UsageError(`--out ${asked}: the folder cannot be made (${error.message}).`)
  })
  return asked
}

async function writePictures(charts: readonly Chart[], folder: string): Promise<string[]> {
  return Promise.all(
    charts.map(async (chart, index) => {
      const path = join(folder, `chart-${index + 1}.svg`)
      await writeFile(path, drawSvg(chart))
      return path
    }),
  )
}

// Reads the objects from the program, without a model.
function readBack(screen: Screen, charts: Charts, sprinkler: Sprinkler, pictures: string[]): void {
  const { bold, dim, blue, green } = screen.paint
  const heading = (text: string, note: string) =>
    writeWrapped(screen, { mark: "  " }, { text, paint: bold }, { text: ` · ${note}`, paint: dim })
  screen.writeLines("")
  writeWrapped(screen, { mark: "" }, { text: "Now the program reads its own objects back, without the model:" })
  for (const [index, chart] of charts.all.entries()) {
    screen.writeLines("")
    heading(safeLine(chart.title), safeLine(chart.unit))
    screen.writeLines(...drawBars(chart, Math.min(50, screen.columns - 2), blue).map((line) => `  ${line}`))
    writeWrapped(screen, { mark: "  " }, { text: `written to ${pictures[index]}`, paint: dim })
  }
  const plan = Object.entries(sprinkler.plan).map(([month, mm]) => `${safeLine(month)} ${Math.round(mm * 10) / 10}`)
  screen.writeLines("")
  heading("sprinkler.plan", "mm a month; it was empty before the run")
  writeWrapped(screen, { mark: "  " }, { text: plan.join(" · ") || "still empty", paint: green })
}
