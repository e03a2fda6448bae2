// test lane: durable
import assert from "node:assert/strict"
import { registerHooks } from "node:module"
import { test } from "node:test"
import { MissingPackageError } from "../../src/core/errors.ts"
import { s3Workspace } from "../../src/workspaces/s3.ts"

test("s3Workspace says which package it lacks, at its first use", async () => {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.includes("aws4fetch")) return next(specifier, context)
      throw Object.assign(new Error("Cannot find package 'aws4fetch'"), { code: "ERR_MODULE_NOT_FOUND" })
    },
  })
  try {
    const credentials = { accessKeyId: "id", secretAccessKey: "secret" }
    const workspace = s3Workspace({ bucket: "bucket", endpoint: "http://127.0.0.1:1", credentials })
    await assert.rejects(workspace.read("a"), (error) => {
      assert.ok(error instanceof MissingPackageError)
      assert.match(error.message, /"aws4fetch" is needed for s3Workspace\(\).*npm install aws4fetch/)
      return true
    })
  } finally {
    hooks.deregister()
  }
})
