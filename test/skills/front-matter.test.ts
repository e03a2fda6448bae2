import assert from "node:assert/strict"
import { test } from "node:test"
import { parseSkillText } from "../../src/skills/front-matter.ts"
import { checkSkillProperties } from "../../src/skills/skill-properties.ts"
import fc from "../property.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

// Characters with a meaning in YAML, and some others.
const yamlText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "---\n",
        "\n",
        "\r\n",
        "name: ",
        "description: ",
        "metadata:\n",
        "  ",
        "\t",
        ": ",
        "- ",
        "? ",
        "| ",
        "> ",
      ),
      fc.constantFrom(
        "[",
        "]",
        "{",
        "}",
        "&a ",
        "*a ",
        "!!map ",
        "!x ",
        "<<: ",
        "# ",
        "'",
        '"',
        "%YAML 1.1\n",
        "...\n",
        "\ufeff",
      ),
      fc.string({ unit: "grapheme", maxLength: 8 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(""))

test("whatever stands in the front matter, reading it gives fields or a problem and never throws", async () => {
  await fc.assert(
    fc.asyncProperty(yamlText, fc.string({ unit: "grapheme" }), async (front, body) => {
      const read = await parseSkillText(bytes(`---\n${front}\n---\n${body}`))
      if ("problem" in read) return assert.ok(read.problem.length > 0)
      const { findings } = checkSkillProperties(read.fields, "folder")
      for (const { message } of findings) assert.ok(message.length > 0)
    }),
    { numRuns: 500 },
  )
})

test("whatever the bytes are, reading them gives fields or a problem and never throws", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (content) => {
      const read = await parseSkillText(content)
      assert.ok("problem" in read || typeof read.body === "string")
    }),
    { numRuns: 300 },
  )
})

test("a name and description that are quoted come back as they were, with any line ends and mark", async () => {
  const line = fc.string({ unit: "grapheme", minLength: 1, maxLength: 100 }).filter((text) => text.trim() === text)
  await fc.assert(
    fc.asyncProperty(
      line,
      line,
      fc.constantFrom("\n", "\r\n"),
      fc.constantFrom("", "\ufeff"),
      async (name, about, end, mark) => {
        const lines = ["---", `name: ${JSON.stringify(name)}`, `description: ${JSON.stringify(about)}`, "---", "Body."]
        const read = await parseSkillText(bytes(mark + lines.join(end)))
        assert.deepEqual(read, { fields: { name, description: about }, body: "Body.", remarks: [] })
      },
    ),
  )
})

test("a name that is accepted is what NFKC makes of it, lower case and at most 64 characters", () => {
  const parts = fc.constantFrom("a", "z", "9", "-", "é", "ß", "技", "A", "_", " ", "ﬁ", "Ⅷ", "ª", "İ")
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 70 }), (given) => {
      const { properties, findings } = checkSkillProperties({ name: given.join(""), description: "x" }, undefined)
      if (findings.length > 0) return
      const { name } = properties
      assert.equal(name, name.normalize("NFKC").toLowerCase())
      assert.match(name, /^[\p{L}\p{N}]+(-[\p{L}\p{N}]+)*$/u)
      assert.ok(Array.from(name).length <= 64)
    }),
  )
})
