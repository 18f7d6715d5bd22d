import type { Format } from './document.ts'
import { insertJson } from './json/insert.ts'
import { parseJson } from './json/parse.ts'
import { removeJson } from './json/remove.ts'
import { insertToml, parseToml, removeToml } from './toml.ts'
import { whole } from './whole.ts'

/** The formats of the files of harnesses. `json` reads comments and trailing commas too; `whole` is a file that is ours. */
export const formats = {
  json: { parse: parseJson, insert: insertJson, remove: removeJson },
  toml: { parse: parseToml, insert: insertToml, remove: removeToml },
  whole,
} as const satisfies Record<string, Format>

export type FormatName = keyof typeof formats
