import assert from "node:assert/strict"
import { test } from "node:test"
import { editDistance, nearestWord } from "../../../src/core/text/nearest-word.ts"

test("two neighbouring letters in the wrong order are one mistake", () => {
  assert.equal(editDistance("modle", "model"), 1)
  assert.equal(nearestWord("modle", ["mode", "model"]), "model")
  assert.equal(nearestWord("mdoel", ["mode", "model"]), "model")
})

test("added, missing and wrong letters are one mistake each", () => {
  assert.deepEqual(
    [editDistance("cat", "cart"), editDistance("cart", "cat"), editDistance("cat", "cut"), editDistance("", "abc")],
    [1, 1, 1, 3],
  )
})

test("a word that is near to none has no suggestion", () => {
  assert.equal(nearestWord("banana", ["mode", "model"]), undefined)
})
