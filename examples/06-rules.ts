// Security rules: generated code is checked before it runs. A cell that breaks a rule does not run; the model sees why.
// Rules are not a security boundary. Run code that you do not trust in another process.
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { attributeRule, functionRule, importRule, regexRule, safeRules } from "karst/rules"

const runtime = jsRuntime(
  { password: "hunter2", notes: [] as string[] },
  {
    rules: [
      ...safeRules(),
      importRule(["node:crypto"]),
      functionRule(["fetch"]),
      attributeRule(["__defineGetter__"]),
      regexRule(/rm\s+-rf/, { description: "shell commands that delete" }),
    ],
  },
)

const model =
  process.env.MODEL ??
  scriptedModel([
    "```ts\nimport { execSync } from 'node:child_process'\nconst send = fetch\nexecSync('rm -rf /')\n```\n",
    "That is not allowed here; I'll only take a note.\n```ts\nnotes.push(`the password has ${password.length} letters`)\n```\n",
    "Noted.",
  ])

const result = await createAgent({ model, runtime }).run("Clean up this machine.")

for (const event of result.trajectory.events) {
  if (event.type === "code-end") console.log(event.ok ? "ran:" : `refused (${event.error?.kind}):`, event.text, "\n")
}
console.log(await runtime.retrieve("notes"))
