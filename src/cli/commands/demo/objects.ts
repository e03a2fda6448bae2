// The demo's live objects. The model sees the doc comments of the classes.
/** A bar chart as data. The program draws it. */
export interface Chart {
  title: string
  unit: string
  labels: string[]
  values: number[]
}

/** Collects charts. */
export class Charts {
  readonly all: Chart[] = []

  /** Adds a bar chart: one label for each value. */
  bar({
    title,
    unit = "",
    labels,
    values,
  }: {
    title: string
    unit?: string
    labels: string[]
    values: number[]
  }): void {
    if (labels.length !== values.length) {
      throw new RangeError(`charts.bar: ${labels.length} labels for ${values.length} values`)
    }
    if (!values.every(Number.isFinite)) throw new TypeError("charts.bar: every value must be a number")
    this.all.push({ title: String(title), unit: String(unit), labels: labels.map(String), values: [...values] })
  }
}

/** The garden's sprinkler, which guards its own limits. */
export class Sprinkler {
  /** The most the pump gives in a month, in mm. */
  readonly maxPerMonth = 60
  #plan = new Map<string, number>()

  /** Sets how much water a month gets, in mm. */
  water(month: string, mm: number): void {
    if (!Number.isFinite(mm) || mm < 0) throw new RangeError(`water: ${mm} is not an amount of water in mm`)
    if (mm > this.maxPerMonth) {
      throw new RangeError(`water: ${mm} mm in ${month}, but the pump gives at most ${this.maxPerMonth} mm a month`)
    }
    this.#plan.set(month, mm)
  }

  /** The mm planned so far, by month. */
  get plan(): Record<string, number> {
    return Object.fromEntries(this.#plan)
  }
}
