import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** The last answer is near the end, after the results of its tools. */
const tailBytes = 512 * 1024

/**
 * Returns the size of the context of a conversation, by the last answer in its transcript, which the hooks of Claude Code name. undefined: the
 * transcript does not say it, or cannot be read. Source: S3-4.
 */
export function contextTokens({ transcript_path: path }: JsonObject): number | undefined {
  if (typeof path !== 'string' || !isAbsolute(path) || !path.endsWith('.jsonl')) return undefined
  try {
    return tokensIn(tailOf(path))
  } catch {
    return undefined
  }
}

/** The first line of a tail may be cut off. An answer of a subagent counts for its own context. */
function tokensIn(text: string): number | undefined {
  for (const line of text.split('\n').reverse()) {
    const { type, isSidechain, message } = line.includes('"usage"') ? objectIn(line) : {}
    if (type !== 'assistant' || isSidechain === true || !isJsonObject(message) || !isJsonObject(message.usage)) continue
    const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = message.usage
    const counts = [input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens].map(
      (one) => one ?? 0,
    )
    const sum = counts.reduce<number>((all, one) => all + Number(one), 0)
    // An answer that is an error of the vendor has used nothing.
    if (Number.isSafeInteger(sum) && sum > 0) return sum
  }
  return undefined
}

function tailOf(path: string): string {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const bytes = Math.min(size, tailBytes)
    const buffer = Buffer.alloc(bytes)
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, bytes, size - bytes))
  } finally {
    closeSync(file)
  }
}

function objectIn(line: string): JsonObject {
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}
