import type { JsonObject } from '../lib/json.ts'

const contents = ['text', 'raw', 'url', 'data'] as const

/** Why a part may not have `data: null`: in ProtoJSON it cannot be distinguished from a part without content. */
export const nullData = 'must not be null: clients could not tell it from a part without content. Leave the part out.'

/** The fields of a part that hold its content: a valid part has one of them (specification §4.1.6). */
export function contentsOf(part: JsonObject): (typeof contents)[number][] {
  return contents.filter((name) => part[name] !== undefined && part[name] !== null)
}

/** True when a text is base64 or base64url, with or without padding: what ProtoJSON reads as bytes. Linear in its length. */
export function isBase64(text: string): boolean {
  const bare = text.replace(/={0,2}$/, '')
  const isPadded = bare.length < text.length
  if (bare.length % 4 === 1 || (isPadded && text.length % 4 !== 0)) return false
  return /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)$/.test(bare)
}
