// objects.ts: the model sees every export under its name
import { DatabaseSync } from "node:sqlite"

export const light = {
  level: 100,
  dim(to: number) {
    this.level = to
  },
}
export const db = new DatabaseSync("shop.db")
