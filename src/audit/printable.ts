import { wellFormed } from '../lib/well-formed.ts'

/** A text that both stores take and a terminal can show: without control characters, well formed and of a bounded length. */
export function printable(text: string, max: number): string {
  const cut = text.length > max ? text.slice(0, max) : text
  return /^[\x20-\x7e]*$/.test(cut) ? cut : wellFormed(cut.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd'))
}
