// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { parseResetTime } from "../../../src/providers/turn/reset-time.ts"
import fc from "../../property.ts"

const now = Date.UTC(2026, 10, 15, 9, 30, 20)
const minute = 60_000

describe("the time at which a limit is over", () => {
  for (const [words, at] of [
    ["You've hit your limit · resets 3pm (Europe/Berlin)", "2026-11-15T14:00:00Z"],
    ["You've hit your session limit · resets 10:05am (UTC)", "2026-11-15T10:05:00Z"],
    ["resets at 08:00 (UTC)", "2026-11-16T08:00:00Z"],
    ["resets at 08:00 (Asia/Tokyo)", "2026-11-15T23:00:00Z"],
    ["resets 12am (UTC)", "2026-11-16T00:00:00Z"],
    ["resets 12pm (UTC)", "2026-11-15T12:00:00Z"],
    ["weekly limit reached · resets Nov 18, 3pm (America/New_York)", "2026-11-18T20:00:00Z"],
    ["resets Jan 2 at 3:30pm (UTC)", "2027-01-02T15:30:00Z"],
    ["try again at Nov 18th, 2026 3:05 PM (Asia/Kolkata).", "2026-11-18T09:35:00Z"],
    ["Try again in 2 days 3 hours 5 minutes.", new Date(now + (51 * 60 + 5) * minute).toISOString()],
    ["try again in 35s", new Date(now + 35_000).toISOString()],
    ["Please try again in 1 hour, 2 minutes and 3 seconds.", new Date(now + 62 * minute + 3000).toISOString()],
    ['429: {"type":"usage_limit_reached","resets_at":1794000000}', new Date(1794000000_000).toISOString()],
    ['{"resets_in_seconds": 90}', new Date(now + 90_000).toISOString()],
    ["Claude AI usage limit reached|1794000000", new Date(1794000000_000).toISOString()],
    ["retry-after: 30", new Date(now + 30_000).toISOString()],
  ] as const) {
    test(`is read from "${words}"`, () => {
      assert.equal(new Date(parseResetTime(words, now) ?? 0).toISOString(), new Date(at).toISOString())
    })
  }

  test("is today's where it has just passed, also over midnight", () => {
    const at = (words: string, now: string) => new Date(parseResetTime(words, Date.parse(now)) ?? 0).toISOString()
    assert.equal(at("resets 9:29am (UTC)", "2026-11-15T09:30:20Z"), "2026-11-15T09:29:00.000Z")
    assert.equal(at("try again at 8:45 AM (UTC)", "2026-11-15T09:30:20Z"), "2026-11-15T08:45:00.000Z")
    assert.equal(at("resets 11:59pm (UTC)", "2026-11-15T00:00:30Z"), "2026-11-14T23:59:00.000Z")
    assert.equal(at("resets 8:15am (UTC)", "2026-11-15T09:30:20Z"), "2026-11-16T08:15:00.000Z")
  })

  test("is unknown where the words do not say, or name a zone that does not exist", () => {
    const silent = [
      "rate limited",
      "resets 3",
      "resets soon",
      "try again later",
      "resets 25:00",
      "resets 3pm (Mars/Base)",
    ]
    for (const words of [...silent, "try again in a while", ""])
      assert.equal(parseResetTime(words, now), undefined, words)
  })

  const zones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia"]

  test("is the next moment at which the clocks of the zone show it, also where they change", () => {
    const anyTime = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2032, 0, 1) })
    const clock = fc.record({ hour: fc.nat(23), minute: fc.nat(59), zone: fc.constantFrom(...zones) })
    fc.assert(
      fc.property(anyTime, clock, (now, { hour, minute: past, zone }) => {
        const half = `${hour % 12 || 12}:${String(past).padStart(2, "0")}${hour < 12 ? "am" : "pm"}`
        const found = parseResetTime(`resets ${half} (${zone})`, now)
        assert.ok(found !== undefined)
        // A day has at most 25 hours, and a skipped hour moves the time by one more.
        assert.ok(found >= now - 60 * minute && found <= now + 26 * 60 * minute, `${new Date(found).toISOString()}`)
        const shown = showing(found, zone)
        const isLeftOut = shown !== `${String(hour).padStart(2, "0")}:${String(past).padStart(2, "0")}`
        if (isLeftOut) assert.notEqual(showing(found - 90 * minute, zone).slice(0, 2), shown.slice(0, 2))
        assert.equal(parseResetTime(`resets at ${hour}:${String(past).padStart(2, "0")} (${zone})`, now), found)
      }),
      { numRuns: 1000 },
    )
  })

  test("never throws, whatever the words are", () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom("resets ", "try again at ", "try again in ", ""), (words, before) => {
        const found = parseResetTime(before + words, now)
        assert.ok(found === undefined || Number.isFinite(found))
      }),
    )
  })
})

function showing(moment: number, timeZone: string): string {
  const options = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone } as const
  return new Intl.DateTimeFormat("en-GB", options).format(moment)
}
