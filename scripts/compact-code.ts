// A rollup plugin that makes the files of dist smaller without changing the code: no indentation, no spaces that nothing
// needs, one statement a line, so that a stack trace still leads to a statement.
import type { Plugin } from "rollup"
import { minify } from "terser"

export function compactCode(): Plugin {
  return {
    name: "compact-code",
    async renderChunk(code) {
      const result = await minify(code, {
        module: true,
        compress: false,
        mangle: false,
        format: { semicolons: false, comments: /^!|@license|@preserve/ },
      })
      return result.code === undefined ? null : { code: result.code, map: null }
    },
  }
}
