import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** Older instants, and later ones, are shown as a date. */
const relativeMaxMs = 100 * 86_400_000

/** An instant for a person at a terminal: `2 min ago`, `in 3 d`. Programs and pipes get it as it is, in ISO 8601. */
export function when(io: Pick<Io, 'columns'>, iso: string | null | undefined, now = Date.now()): string {
  if (!iso) return ''
  return io.columns === undefined ? iso : relative(iso, now)
}

/** The same with the instant itself, where there is room for both. */
export function whenLong(io: Pick<Io, 'columns'>, iso: string | null | undefined, now = Date.now()): string {
  if (!iso) return ''
  return io.columns === undefined ? iso : `${iso} (${relative(iso, now)})`
}

/** The time of a person's day, with the date if it is another day. A pipe gets the instant. */
export function timeOfDay({ columns }: Pick<Io, 'columns'>, iso: string, now = new Date()): string {
  const at = new Date(iso)
  if (columns === undefined || Number.isNaN(at.getTime())) return plain(iso)
  const two = (count: number) => String(count).padStart(2, '0')
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')
  return at.toDateString() === now.toDateString() ? time : `${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`
}

/** Returns `2 min ago`, `in 3 d`, `now`, or the date if it is long ago. A text that is no instant is returned unchanged. Pure. */
export function relative(iso: string, now: number): string {
  const at = Date.parse(iso)
  if (Number.isNaN(at)) return iso
  const ms = Math.abs(now - at)
  if (ms >= relativeMaxMs) return iso.slice(0, 10)
  const [unit, unitMs] = units.find(([, one]) => ms >= one) ?? ['s', 1_000]
  const count = Math.floor(ms / unitMs)
  if (count === 0) return 'now'
  return at > now ? `in ${count} ${unit}` : `${count} ${unit} ago`
}
