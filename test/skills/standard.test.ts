import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { loadSkills, type Skill } from "karst"
import { skillText, temporaryFolder } from "./skill-folders.ts"

const description = "description: Does a thing."
const text = (front: string, body = "Do it.") => `---\n${front}\n---\n${body}\n`
const named = (name: string) => text(`name: ${name}\n${description}`)

interface Case {
  /** The name of the folder. */
  folder?: string
  content: string | Uint8Array
  /** The error that prevents loading. */
  error?: RegExp
  /** The warnings of a skill that is loaded. */
  warning?: RegExp
  holds?: (skill: Skill) => void
}

const cases: Record<string, Case> = {
  // Names
  "a name of letters": { folder: "pdf", content: named("pdf") },
  "a name with digits and hyphens": { folder: "pdf-2-text", content: named("pdf-2-text") },
  "a name of one character": { folder: "x", content: named("x") },
  "a name of 64 characters": { folder: "a".repeat(64), content: named("a".repeat(64)) },
  "a name of digits": { folder: "2024", content: named("2024"), holds: ({ name }) => assert.equal(name, "2024") },
  "a name in quotes": { folder: "pdf", content: named('"pdf"') },
  "a name of 65 characters": { folder: "a".repeat(65), content: named("a".repeat(65)), error: /65 characters.*64/ },
  "a name with a capital": { folder: "Pdf", content: named("Pdf"), error: /must be lower case/ },
  "a name with an underscore": { folder: "a_b", content: named("a_b"), error: /letters, digits and hyphens only/ },
  "a name with a blank": { folder: "a b", content: named("a b"), error: /letters, digits and hyphens only/ },
  "a name with a dot": { folder: "a.b", content: named("a.b"), error: /letters, digits and hyphens only/ },
  "a name with a hyphen in front": { folder: "-a", content: named("-a"), error: /begin or end with a hyphen/ },
  "a name with a hyphen at its end": { folder: "a-", content: named("a-"), error: /begin or end with a hyphen/ },
  "a name with two hyphens": { folder: "a--b", content: named("a--b"), error: /two hyphens in a row/ },
  "a name that is not the folder's": { folder: "other", content: named("pdf"), error: /name of its folder, "other"/ },
  "no name": { content: text(description), error: /name is missing/ },
  "an empty name": { content: text(`name:\n${description}`), error: /name is missing/ },
  "a name that is a list": { content: text(`name: [a, b]\n${description}`), error: /name must be text/ },
  "a name that is a path": { content: named("../pdf"), error: /letters, digits and hyphens only/ },
  // Other scripts
  "a Chinese name": { folder: "技能", content: named("技能") },
  "a Cyrillic name": { folder: "мой-навык", content: named("мой-навык") },
  "a Cyrillic name with a capital": { folder: "Навык", content: named("Навык"), error: /must be lower case/ },
  "a name that NFKC makes another": {
    folder: "ﬁle",
    content: named("ﬁle"),
    holds: ({ name }) => assert.equal(name, "file"),
  },
  "a composed name in a folder with a decomposed one": { folder: "cafe\u0301", content: named("caf\u00e9") },
  "a name of full-width letters": {
    folder: "pdf",
    content: named("ｐｄｆ"),
    holds: ({ name }) => assert.equal(name, "pdf"),
  },
  "an emoji": { folder: "🚀", content: named("🚀"), error: /letters, digits and hyphens only/ },
  // Descriptions
  "a description of 1,024 characters": { content: skillText("pdf", "é".repeat(1024)) },
  "a description of 1,025 characters": { content: skillText("pdf", "é".repeat(1025)), error: /1025 characters.*1024/ },
  "a description of 1,024 characters beyond 16 bits": { content: skillText("pdf", "😀".repeat(1024)) },
  "no description": { content: text("name: pdf"), error: /description is missing/ },
  "a blank description": { content: text('name: pdf\ndescription: "   "'), error: /description is missing/ },
  "a description that is a map": {
    content: text("name: pdf\ndescription: { a: b }"),
    error: /description must be text/,
  },
  "a description over several lines": {
    content: text("name: pdf\ndescription: >\n  Reads\n  PDFs."),
    holds: (skill) => assert.equal(skill.description, "Reads PDFs."),
  },
  "a description with a colon that YAML refuses": {
    content: text("name: pdf\ndescription: Use when: the user has a PDF"),
    warning: /put the text in quotes.*line 3/,
    holds: (skill) => assert.equal(skill.description, "Use when: the user has a PDF"),
  },
  // The other fields
  "every field of the standard": {
    content: text(
      `name: pdf\n${description}\nlicense: Apache-2.0\ncompatibility: Needs poppler\nmetadata:\n  version: 1.0\n  author: me\nallowed-tools: Read Bash(git:*)`,
    ),
    holds({ license, compatibility, metadata, allowedTools }) {
      assert.equal(license, "Apache-2.0")
      assert.equal(compatibility, "Needs poppler")
      assert.deepEqual(metadata, { version: "1.0", author: "me" })
      assert.deepEqual(allowedTools, ["Read", "Bash(git:*)"])
    },
  },
  "tools as a list": {
    content: text(`name: pdf\n${description}\nallowed-tools: [Read, "Bash(ls *)"]`),
    holds: ({ allowedTools }) => assert.deepEqual(allowedTools, ["Read", "Bash(ls *)"]),
  },
  "tools with commas and blanks in parentheses": {
    content: text(`name: pdf\n${description}\nallowed-tools: Read, Bash(git add *), Grep`),
    holds: ({ allowedTools }) => assert.deepEqual(allowedTools, ["Read", "Bash(git add *)", "Grep"]),
  },
  "tools that are a map": {
    content: text(`name: pdf\n${description}\nallowed-tools: { a: b }`),
    error: /allowed-tools must be text or a list/,
  },
  "a compatibility of 500 characters": {
    content: text(`name: pdf\n${description}\ncompatibility: ${"x".repeat(500)}`),
  },
  "a compatibility of 501 characters": {
    content: text(`name: pdf\n${description}\ncompatibility: ${"x".repeat(501)}`),
    error: /compatibility has 501 characters.*500/,
  },
  "metadata that is a text": {
    content: text(`name: pdf\n${description}\nmetadata: x`),
    error: /metadata must be a map/,
  },
  "metadata that is nested": {
    content: text(`name: pdf\n${description}\nmetadata:\n  tool: { emoji: x }`),
    warning: /metadata.tool is not text/,
    holds: ({ metadata }) => assert.deepEqual(metadata, { tool: '{"emoji":"x"}' }),
  },
  "fields that other agents know": {
    content: text(`name: pdf\n${description}\nmodel: opus\nargument-hint: "[file]"\ncontext: fork`),
    warning: /"model" is not in the standard[\s\S]*"argument-hint"[\s\S]*"context"/,
  },
  "one that the model must not activate": {
    content: text(`name: pdf\n${description}\ndisable-model-invocation: true`),
    warning: /not offered/,
    holds: ({ offered }) => assert.equal(offered, false),
  },
  "a field called __proto__": {
    content: text(`name: pdf\n${description}\n__proto__:\n  polluted: yes`),
    warning: /"__proto__" is not in the standard/,
    holds: (skill) => assert.equal("polluted" in skill, false),
  },
  // The file
  "a byte order mark": { content: `\ufeff${named("pdf")}` },
  "CRLF line ends": {
    content: text(`name: pdf\n${description}`, "One.\n\nTwo.").replaceAll("\n", "\r\n"),
    holds: ({ instructions }) => assert.equal(instructions, "One.\n\nTwo."),
  },
  "blanks after the lines of hyphens": { content: `---  \nname: pdf\n${description}\n---\t\nDo it.` },
  "a rule of hyphens in the body": {
    content: text(`name: pdf\n${description}`, "One.\n\n---\n\nTwo."),
    holds: ({ instructions }) => assert.equal(instructions, "One.\n\n---\n\nTwo."),
  },
  "no body": { content: `---\nname: pdf\n${description}\n---`, warning: /no instructions/ },
  "no front matter": { content: "# PDF\n", error: /no front matter/ },
  "text before the front matter": { content: `\n${named("pdf")}`, error: /no front matter/ },
  "front matter without an end": { content: `---\nname: pdf\n${description}\n`, error: /without an end/ },
  "an empty file": { content: "", error: /no front matter/ },
  "a file that is only a line of hyphens": { content: "---", error: /without an end/ },
  "empty front matter": { content: "---\n---\nDo it.", error: /must be a map of fields/ },
  "front matter that is a list": { content: text("- name\n- pdf"), error: /must be a map of fields/ },
  "front matter that is a text": { content: text("hello"), error: /must be a map of fields/ },
  "broken YAML": { content: text('name: "pdf'), error: /not YAML.*line \d/ },
  "a field twice": { content: text(`name: pdf\nname: pdf\n${description}`), error: /not YAML: .*unique.*line 3/ },
  "tabs for indentation": { content: text("name: pdf\nmetadata:\n\ta: b"), error: /not YAML: Tabs/ },
  "a tag that would make code": {
    content: text(`name: pdf\ndescription: !!js/function "x"`),
    holds: (skill) => assert.equal(skill.description, "x"),
  },
  "aliases that multiply": {
    content: text(
      `a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\nname: pdf\n${description}`,
    ),
    error: /not YAML/,
  },
  "brackets without an end": { content: text("[".repeat(20_000)), error: /not YAML/ },
  "front matter that is too long": { content: text(`name: pdf\nx: ${"y".repeat(40_000)}`), error: /the most is 32768/ },
  "a file that is too long": { content: named("pdf") + "x".repeat(256 * 1024), error: /bytes; the most is 262144/ },
  "a binary file": { content: Uint8Array.of(0x2d, 0x2d, 0x2d, 10, 0xff, 0xfe, 0), error: /not UTF-8 text/ },
  "a NUL": { content: text(`name: pdf\n${description}`, "a\0b"), error: /not UTF-8 text/ },
  "UTF-16": { content: Buffer.from(`\ufeff${named("pdf")}`, "utf16le"), error: /not UTF-8 text/ },
}

describe("a SKILL.md with", () => {
  for (const [what, { folder = "pdf", content, error, warning, holds }] of Object.entries(cases)) {
    test(`${what} is ${error ? "refused, with the reason" : "loaded"}`, async (t) => {
      const root = await temporaryFolder(t, { [`${folder}/SKILL.md`]: content })
      const { skills, problems } = await loadSkills([root])
      const told = (severity: string) =>
        problems.filter((problem) => problem.severity === severity).map(({ message }) => message)
      if (error) {
        assert.match(told("error").join("\n"), error)
        assert.deepEqual(skills, [])
        return
      }
      assert.deepEqual(told("error"), [])
      assert.match(told("warning").join("\n"), warning ?? /^$/)
      const [skill] = skills
      assert.ok(skill)
      holds?.(skill)
    })
  }

  test("several things wrong is told of each of them", async (t) => {
    const root = await temporaryFolder(t, {
      "pdf/SKILL.md": text("name: Pdf--x\ncompatibility: [a]\nmetadata: 1\nmodel: x"),
    })
    const { problems } = await loadSkills([root])
    assert.deepEqual(
      problems.map(({ severity, message }) => `${severity}: ${message}`),
      [
        'error: name "Pdf--x" must be lower case',
        'error: name "Pdf--x" must not have two hyphens in a row',
        'error: name "Pdf--x" must be the name of its folder, "pdf": rename one of them',
        "error: description is missing: say what the skill does and when to use it",
        "error: compatibility must be text",
        "error: metadata must be a map of texts",
        'warning: the field "model" is not in the standard and is ignored',
      ],
    )
  })
})
