import { wellFormed } from '../lib/well-formed.ts'

/** Returns a text that both stores accept and a terminal can show: well formed, without control characters, at most `max` long. */
export function printable(text: string, max: number): string {
  const cut = text.length > max ? text.slice(0, max) : text
  return /^[\x20-\x7e]*$/.test(cut) ? cut : wellFormed(cut.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd'))
}
