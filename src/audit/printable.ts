import { replaceUnseen } from '../lib/unseen.ts'

/** Returns a text that both stores accept and a terminal can show: well formed, all of it seen, at most `max` long. */
export function printable(text: string, max: number): string {
  const cut = text.length > max ? text.slice(0, max) : text
  return /^[\x20-\x7e]*$/.test(cut) ? cut : replaceUnseen(cut, () => '\ufffd')
}
