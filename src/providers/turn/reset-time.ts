// Parses the time at which a usage limit resets from the error message of a CLI.
/** Recognises "resets 3pm (Europe/Berlin)", "resets Nov 18, 3pm (UTC)", "try again at 1:42 AM", "try again in 2 hours 5
 *  minutes", `"resets_at":1793000000` and "retry-after: 30". Returns milliseconds since the epoch, or undefined if
 *  there is no time. A time of day is the next one, counted from an hour before `now`. Times without a zone are local.
 *  */
export function parseResetTime(message: string, now = Date.now()): number | undefined {
  return parseTimestamp(message) ?? parseDelay(message, now) ?? parseClockTime(message, now)
}

function parseTimestamp(message: string): number | undefined {
  const digits = /(?:resets_?at"?\s*[:=]\s*|limit reached\|)(\d{10,13})(?!\d)/i.exec(message)?.[1]
  if (digits === undefined) return undefined
  // 10 digits are seconds, 13 are milliseconds.
  return digits.length === 10 ? Number(digits) * 1000 : Number(digits)
}

const units: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 }
const amount = String.raw`\d+(?:\.\d+)?\s*(?:d(?:ays?)?|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)(?![a-z])`
const delay = new RegExp(`(?:try again|resets) in ((?:${amount}[\\s,]*(?:and )?)+)`, "i")

function parseDelay(message: string, now: number): number | undefined {
  const seconds = /(?:retry-after|resets_in_seconds)"?\s*[:=]?\s*"?(\d+)/i.exec(message)?.[1]
  if (seconds !== undefined) return now + Number(seconds) * 1000
  const duration = delay.exec(message)?.[1]
  if (duration === undefined) return undefined
  const parts = duration.matchAll(/(?<!\d)(\d+(?:\.\d+)?)\s*([dhms])/gi)
  return now + parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (units[unit.toLowerCase()] ?? 0), 0)
}

const pastToleranceMs = 3_600_000

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const day = String.raw`(?:(${months.join("|")})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?:,| at)? )?`
const clock = new RegExp(
  `(?:resets|try again)(?: at| on)? ${day}(\\d{1,2})(?::(\\d\\d))?(?:\\s*([ap]m))?(?: \\(([^)]+)\\))?`,
  "i",
)

function parseClockTime(message: string, now: number): number | undefined {
  const [, month, date, year, hours, minutes, half, zone] = clock.exec(message) ?? []
  if (hours === undefined || (half === undefined && minutes === undefined)) return undefined
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === "pm" ? 12 : 0)
  const minute = Number(minutes ?? 0)
  const today = wallClock(now, zone)
  if (hour > 23 || minute > 59 || !today) return undefined
  if (month === undefined) {
    const time = (days: number) => timestampOf(Date.UTC(today.year, today.month, today.date + days, hour, minute), zone)
    // The limit may have reset by now, and clocks differ: a time that has just passed does not mean tomorrow.
    const earliest = now - pastToleranceMs
    return [-1, 0, 1].map(time).find((moment) => moment >= earliest) ?? time(1)
  }
  const index = months.indexOf(month.toLowerCase())
  const time = (year: number) => timestampOf(Date.UTC(year, index, Number(date), hour, minute), zone)
  if (year !== undefined) return time(Number(year))
  // Without a year: a date more than half a year ago means the next year, such as "Jan 2" in December.
  return time(today.year) < now - 180 * (units.d ?? 0) ? time(today.year + 1) : time(today.year)
}

/** The timestamp at which clocks of a zone show a time; `shown` is that time as if it were UTC. A time skipped by a
 *  clock change is moved later by the same amount. */
function timestampOf(shown: number, zone: string | undefined): number {
  const first = shown - offsetAt(shown, zone)
  const second = shown - offsetAt(first, zone)
  return offsetAt(second, zone) === shown - second ? second : Math.max(first, second)
}

/** The offset of a zone from UTC in milliseconds. */
function offsetAt(moment: number, zone: string | undefined): number {
  const clock = wallClock(moment, zone)
  if (!clock) return 0
  const { year, month, date, hour, minute, second } = clock
  return Date.UTC(year, month, date, hour, minute, second) - (moment - (moment % 1000))
}

/** The local date and time in a zone; undefined if the zone is unknown. */
function wallClock(moment: number, zone: string | undefined) {
  try {
    const parts = new Intl.DateTimeFormat("en-GB", {
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
      hourCycle: "h23",
      ...(zone !== undefined && { timeZone: zone }),
    }).formatToParts(moment)
    const part = (type: string) => Number(parts.find((each) => each.type === type)?.value)
    const [month, date] = [part("month") - 1, part("day")]
    return { year: part("year"), month, date, hour: part("hour"), minute: part("minute"), second: part("second") }
  } catch {
    return undefined
  }
}
