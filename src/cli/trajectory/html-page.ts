// Writes a trajectory as one HTML page. The page has no script and loads nothing: its content security policy allows
// only its own style and the images in it.
import { createHash } from "node:crypto"
import type { ImagePart } from "../../core/message.ts"
import { formatDuration } from "../../display/event-text.ts"
import { formatTime } from "../print-table.ts"
import { codeHtml, type Html, html, noHtml, outputHtml, proseHtml } from "./html-text.ts"
import { overviewRows, type TrajectoryView, tokensText } from "./overview.ts"
import { pageStyle } from "./page-style.ts"
import type { Action, FunctionCall, Step } from "./steps.ts"

export function trajectoryPage({ record, steps, overview }: TrajectoryView): string {
  const title = `${overview.agent || "agent"} ${overview.session ?? ""}`.trim()
  const rows = overviewRows(overview).map(([label, text]) => html`<dt>${label}</dt><dd>${text}</dd>`)
  const hash = createHash("sha256").update(pageStyle).digest("base64")
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${{ html: pageStyle }}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<dl>${rows}</dl>
<label><input type="checkbox" id="hide-actions"> hide cells and tool calls</label>
</header>
${outlineHtml(steps)}
${record.system === "" ? noHtml : html`<details class="system"><summary>System prompt</summary>${proseHtml(record.system)}</details>`}
<main>
${steps.map(stepHtml)}
</main>
</body>
</html>
`
  return page.html
}

/** Links to the prompts, if there are several. */
function outlineHtml(steps: readonly Step[]): Html {
  const prompts = steps.filter(({ kind }) => kind === "user")
  if (prompts.length < 2) return noHtml
  const items = prompts.map(
    ({ address, text }) => html`<li><a href="#${anchor(address)}">${text.slice(0, 120).toWellFormed()}</a></li>`,
  )
  return html`<nav><ol>${items}</ol></nav>`
}

function stepHtml(step: Step): Html {
  const { address, kind, agent, at, usage, model, notes, children } = step
  const facts = [
    formatTime(at, { seconds: true }),
    ...(model === undefined ? [] : [model]),
    ...(usage === undefined ? [] : [tokensText(usage)]),
  ].filter((fact) => fact !== "unknown")
  return html`<section class="step ${kind}" id="${anchor(address)}">
<h2><a href="#${anchor(address)}">${address}</a> ${kind === "agent" ? agent : kind} <small>${facts.join(" · ")}</small></h2>
${kind === "agent" ? answerHtml(step) : html`${proseHtml(step.text)}${step.images.map(imageHtml)}`}
${notes.map((note) => html`<p class="note">${note}</p>`)}
${children.length === 0 ? noHtml : nestedHtml(children)}
</section>
`
}

function nestedHtml(children: readonly Step[]): Html {
  const agents = [...new Set(children.map(({ agent }) => agent))].join(", ")
  const count = `${children.length} ${children.length === 1 ? "step" : "steps"}`
  return html`<details class="nested" open><summary>Sub-agent ${agents}: ${count}</summary>${children.map(stepHtml)}</details>`
}

/** The parts of an answer in their order, each cell and tool call with its result. */
function answerHtml({ parts, actions }: Step): Html {
  const shown = new Set<string>()
  const body = parts.map((part) => {
    if (part.type === "text") return proseHtml(part.text)
    if (part.type === "reasoning") return reasoningHtml(part.text)
    shown.add(part.id)
    return actions.filter(({ id }) => id === part.id).map(actionHtml)
  })
  const rest = actions.filter(({ id }) => !shown.has(id)).map(actionHtml)
  return html`${body.flat()}${rest}`
}

function reasoningHtml(text: string): Html {
  if (text.trim() === "") return noHtml
  return html`<details class="reasoning"><summary>Reasoning</summary>${proseHtml(text)}</details>`
}

function actionHtml({ tool, source, language, ok, output, error, durationMs, calls, images }: Action): Html {
  const state = ok === undefined ? "did not end" : ok ? "ok" : "failed"
  const took = durationMs === undefined ? "" : ` · ${formatDuration(durationMs)}`
  return html`<div class="action ${state === "failed" ? "failed" : ""}">
<h3>${tool ?? "cell"} <small>${state}${took}</small></h3>
${source === "" ? noHtml : codeHtml(source, language)}
${callsHtml(calls)}
${outputHtml(output, "output")}${outputHtml(error, "error")}
${images.map(imageHtml)}
</div>`
}

function callsHtml(calls: readonly FunctionCall[]): Html {
  if (calls.length === 0) return noHtml
  const items = calls.map(
    ({ text, ok, error }) =>
      html`<li class="${ok === false ? "failed" : ""}"><code>${text}</code> ${ok === false ? (error ?? "failed") : ""}</li>`,
  )
  const list = html`<ul class="calls">${items}</ul>`
  return calls.length <= 8 ? list : html`<details><summary>${calls.length} calls</summary>${list}</details>`
}

/** Only images that are in the trajectory are shown: the page loads nothing from elsewhere. */
function imageHtml({ mediaType, data }: ImagePart): Html {
  const isSafe = /^image\/(png|jpeg|gif|webp|avif|svg\+xml)$/.test(mediaType) && /^[\w+/=\s-]*$/.test(data)
  if (!isSafe) return html`<p class="note">image ${mediaType} ${data.slice(0, 200)}</p>`
  return html`<img alt="image" src="data:${mediaType};base64,${data}">`
}

function anchor(address: string): string {
  return `step-${address.replaceAll("/", "-")}`
}
