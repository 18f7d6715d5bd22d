import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

export const inputMax = { bytes: 262_144, ms: 1_000 } as const

/**
 * Reads the JSON of a hook: until it is whole, the input ends, or there is too much, or too late. A harness may leave the input open.
 * Input that cannot be read is empty.
 */
export async function readInput(input: Readable | undefined): Promise<JsonObject> {
  if (input === undefined) return {}
  let text = ''
  // A chunk may end within a character.
  const decoder = new StringDecoder('utf8')
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<JsonObject>((resolve) => {
      const settle = () => resolve(parsed(text) ?? {})
      timer = setTimeout(settle, inputMax.ms)
      input.on('end', settle).on('error', settle)
      input.on('data', (chunk: Buffer | string) => {
        bytes += chunk.length
        if (bytes > inputMax.bytes) return resolve({})
        text += typeof chunk === 'string' ? chunk : decoder.write(chunk)
        if (/\}\s*$/.test(text)) {
          const whole = parsed(text)
          if (whole) resolve(whole)
        }
      })
    })
  } finally {
    clearTimeout(timer)
    // An open input would keep the process, and the turn of the harness waits for its end.
    input.destroy()
  }
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
