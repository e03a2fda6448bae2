// Types: classes the model may create and check with instanceof, and functions described by a schema.
// A schema is shown as TypeScript, and every call from generated code is validated against it.
import { classType, createAgent, fn, jsRuntime, variable } from "karst"
import { scriptedModel } from "karst/models"
import { z } from "zod"

class Invoice {
  paid = false
  customer: string
  amount: number
  constructor(customer: string, amount: number) {
    this.customer = customer
    this.amount = amount
  }
}

const Payment = z.object({
  customer: z.string().describe("Name as on the invoice"),
  amount: z.number().positive(),
})

const invoices: Invoice[] = [new Invoice("Ada", 120), new Invoice("Grace", 80)]
const book = ({ customer, amount }: z.infer<typeof Payment>) => {
  const invoice = invoices.find((open) => open.customer === customer && open.amount === amount)
  if (invoice) invoice.paid = true
  return invoice !== undefined
}

const runtime = jsRuntime({
  Invoice: classType(Invoice),
  invoices: variable(invoices, "All invoices"),
  book: fn(book, { description: "Books a payment; true when an invoice matched", input: Payment, output: z.boolean() }),
})

const model =
  process.env.MODEL ??
  scriptedModel([
    "```ts\nawait book({ customer: 'Ada', amount: -120 })\n```\n",
    "The amount must be positive.\n```ts\nconst booked = await book({ customer: 'Ada', amount: 120 })\ninvoices.push(new Invoice('Linus', 40))\n;[booked, invoices.every((invoice) => invoice instanceof Invoice)]\n```\n",
    "Ada's 120 is booked, and there is a new invoice for Linus.",
  ])

const agent = createAgent({ model, runtime })
console.log(await runtime.describe())
console.log()

const result = await agent.run("Ada paid 120. Also, Linus owes us 40.")
for (const message of result.messages) {
  for (const part of message.parts) if (part.type === "code-result") console.log(part.text)
}
console.log(result.output)
console.table(await runtime.retrieve("invoices"))
