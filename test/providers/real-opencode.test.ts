import { opencode } from "karst/providers"
import { slowSuite } from "./real-slow.ts"
import { opencodeBench } from "./slow-benches.ts"

slowSuite({
  name: "opencode",
  title: "opencode",
  bench: opencodeBench,
  agent: opencode,
  shell: (command) => `[[tool:bash ${JSON.stringify({ command, description: "x" })}]]`,
  ours: (tool) => `karst_${tool}`,
  systemOf: (body) => JSON.stringify(Reflect.get(Object(body), "messages")?.[0]),
  // It tries a broken service again for minutes, and says nothing of it.
  silent: ["[[status:500]]", "[[hang]]"],
  codes: { "[[status:500]]": /^stalled$/ },
})
