import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { carryForward, parseSummary, type SummaryDraft } from "../../src/memory/summary-text.ts"
import { goodSummary } from "./memory-helpers.ts"

const draft = (facts: string, outdated = ""): SummaryDraft => ({
  sections: { goals: "- go on", decisions: "- none", facts, open: "- more" },
  outdated,
})

describe("a summary", () => {
  test("is what stands under its headings, without the analysis", () => {
    const parsed = parseSummary(goodSummary("- the id is A-17\n- the price is 99"))
    assert.deepEqual(parsed, draft("- the id is A-17\n- the price is 99"))
  })

  test("is found without tags, and under headings written in other ways", () => {
    const text =
      "Here it is.\n# GOALS\n- go on\n**Decisions:**\n- none\n### Facts ###\n- a\n\n- b\n## Open Work:\n- more"
    assert.deepEqual(parseSummary(text), draft("- a\n- b"))
  })

  test("needs every heading, and something to say", () => {
    assert.equal(parseSummary("I cannot do that."), undefined)
    assert.equal(parseSummary(""), undefined)
    assert.equal(parseSummary(goodSummary().replace("## Facts", "## Other")), undefined)
    const empty = goodSummary().replace("- go on", "- none").replace("- more", "- none")
    assert.equal(parseSummary(empty), undefined)
  })

  test("keeps what the one before it said, word for word, when the summariser forgets it", () => {
    const before = draft("- the order is A-17\n- the user lives in Lisbon").sections
    const { facts, goals } = carryForward(draft("- the price is 99"), before, 1000)
    assert.equal(facts, "- the order is A-17\n- the user lives in Lisbon\n- the price is 99")
    assert.equal(goals, "- go on")
  })

  test("does not repeat what is said again in other words", () => {
    const before = draft("- the order number of the user is A-17\n- 订单号是四二").sections
    const { facts } = carryForward(
      draft("- order A-17 of this user has the number 3\n- 用户的订单号是四二"),
      before,
      1000,
    )
    assert.equal(facts, "- order A-17 of this user has the number 3\n- 用户的订单号是四二")
  })

  test("lets go of what the summariser says no longer holds", () => {
    const before = draft("- the order is A-17\n- the price is 99").sections
    const { facts } = carryForward(draft("- the price is 120", "- the price is 99"), before, 1000)
    assert.equal(facts, "- the order is A-17\n- the price is 120")
  })

  test("drops the oldest of what was forgotten when there is no more room", () => {
    const before = draft("- first thing 1\n- second thing 2\n- third thing 3").sections
    const { facts } = carryForward(draft("- new"), before, 40)
    assert.equal(facts, "- third thing 3\n- new")
  })
})
