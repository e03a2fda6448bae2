// The questions with closed answers, as the data set states them.
import { readJson } from "../harness/data.ts"

export interface Question {
  id: number
  question: string
  constraints: string
  format: string
  file_name: string
  level: string
  answers: [key: string, value: string][]
}

/** A question without its answers: nothing that derives a program from it can know them. */
export type AskedQuestion = Omit<Question, "answers">

export function readQuestions(folder: string): Promise<Question[]> {
  return readJson(folder, "questions.json")
}

const texts = ["question", "constraints", "format", "file_name"] as const

/** Says which part of a question is not there; undefined if it is complete. */
export function missingPart(question: Question): string | undefined {
  const missing = texts.find((name) => typeof question[name] !== "string")
  return missing ?? (Array.isArray(question.answers) ? undefined : "answers")
}

/** What the user says: the same in every arm. */
export function questionText({ question, constraints, format, file_name }: AskedQuestion): string {
  return `${question}\n\nTable: ${file_name}\nConstraints: ${constraints}\nAnswer in this format: ${format}`
}

export interface AnswerField {
  key: string
  placeholder: string
}

/** The answers that the format asks for: `@key[placeholder]`, each key once. */
export function answerFields(format: string): AnswerField[] {
  const fields = new Map<string, AnswerField>()
  for (const [, key = "", placeholder = ""] of format.matchAll(/@([\w-]+)\[([^\]]*)\]/g)) {
    if (!fields.has(key)) fields.set(key, { key, placeholder })
  }
  return [...fields.values()]
}

/** Whether a text has every closed answer. Numbers are equal up to 1e-6, texts without regard to case. */
export function isCorrect({ answers }: Question, text: string): boolean {
  const given = new Map(answersIn(text))
  return answers.every(([key, value]) => sameAnswer(given.get(key), value))
}

/** Whether two texts give the same answers, in the same order. */
export function sameAnswers(text: string, other: string): boolean {
  const [a, b] = [answersIn(text), answersIn(other)]
  return (
    a.length === b.length && a.every(([key, value], index) => key === b[index]?.[0] && sameAnswer(value, b[index][1]))
  )
}

function answersIn(text: string): [key: string, value: string][] {
  return [...text.matchAll(/@([\w-]+)\[([^\]]*)\]/g)].map(([, key = "", value = ""]) => [key, value])
}

function sameAnswer(given: string | undefined, expected: string): boolean {
  if (given === undefined) return false
  const [a, b] = [given.trim(), expected.trim()]
  if (a.toLowerCase() === b.toLowerCase()) return true
  return a !== "" && b !== "" && Math.abs(Number(a) - Number(b)) < 1e-6
}
