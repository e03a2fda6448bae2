/** When a limit is over, as a CLI writes it in the words of a failure: "resets 3pm (Europe/Berlin)", "resets at 15:00 (UTC)",
 *  "try again at 1:42 AM". Milliseconds since the epoch, the next such time from `now` on; undefined where it does not say. Without a zone
 *  it is the local one. */
export function resetTime(words: string, now = Date.now()): number | undefined {
  const [, hours, minutes = "0", half, zone] =
    /(?:resets|try again)(?: at)? (\d{1,2})(?::(\d\d))?\s*([ap]m)?(?: \(([^)]+)\))?/i.exec(words) ?? []
  if (hours === undefined || (half === undefined && !/\d:\d\d/.test(words))) return undefined
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === "pm" ? 12 : 0)
  if (hour > 23) return undefined
  const today = minutesOfDay(now, zone)
  if (today === undefined) return undefined
  const wait = (hour * 60 + Number(minutes) - today + 24 * 60) % (24 * 60)
  // To the minute: the clock of the words has no seconds.
  return now - (now % 60_000) + wait * 60_000
}

function minutesOfDay(now: number, zone: string | undefined): number | undefined {
  try {
    const parts = new Intl.DateTimeFormat("en-GB", {
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
      ...(zone !== undefined && { timeZone: zone }),
    }).formatToParts(now)
    const part = (type: string) => Number(parts.find((each) => each.type === type)?.value)
    return part("hour") * 60 + part("minute")
  } catch {
    // No such zone.
    return undefined
  }
}
