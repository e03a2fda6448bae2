// A CommonJS program that loads Karst, as docs/bundlers.md shows it.
// #region require
const { createAgent, jsRuntime } = require("karst")
// #endregion
const { scriptedModel } = require("karst/models")

const tasks = []
const model = scriptedModel(["```ts\ntasks.push('required')\n```", "Added."])
const run = createAgent({ model, runtime: jsRuntime({ tasks }) }).run("Add a task")
run.then((result) => console.log(result.status, tasks))
