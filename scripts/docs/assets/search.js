// The search of the site, in the browser. minisearch.js and search-index.js are loaded before; without scripts the field
// stays hidden.
const input = document.getElementById("search")
const list = document.getElementById("results")
const up = document.body.dataset.up
const menu = document.querySelector("details.menu")
// Read at the first search: it takes longer than everything else on the page.
let index

input.hidden = false
const wide = matchMedia("(width >= 60rem)")
menu.open = wide.matches
wide.addEventListener("change", () => {
  menu.open = wide.matches
})

input.addEventListener("input", () => {
  index ??= MiniSearch.loadJSON(searchIndex, searchOptions)
  const found = index.search(input.value, { prefix: true, fuzzy: 0.15, boost: { title: 4, page: 2 } }).slice(0, 12)
  list.replaceChildren(...found.map(item))
  list.hidden = found.length === 0
})
input.addEventListener("keydown", (event) => {
  if (event.key === "Enter") list.querySelector("a")?.click()
  if (event.key === "Escape") close()
})
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === input) return
  event.preventDefault()
  input.focus()
})
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search") || event.target.closest("#results a")) close()
})

function close() {
  list.hidden = true
}

function item({ id, title, page, start }) {
  const link = document.createElement("a")
  link.href = up + id
  link.textContent = title === page ? page : `${page}: ${title}`
  const line = document.createElement("small")
  line.textContent = start
  link.append(line)
  const entry = document.createElement("li")
  entry.append(link)
  return entry
}
