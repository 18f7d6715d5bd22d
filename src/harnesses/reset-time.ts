const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const dayMs = 24 * 3_600_000
/** A harness that names no end is tried again after this. */
const unnamedMs = 3_600_000

const span = /\bin (?=\d)(?:(\d{1,3}) days? ?)?(?:(\d{1,3}) hours? ?)?(?:(\d{1,4}) minutes?)?/i
const point =
  /\b(?:resets?|try again)(?: at)? (?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4}),? )?(?:at )?)?(\d{1,2})(?::(\d{2}))? ?([ap]m)?(?: \(([\w/+-]{1,60})\))?/i

const dated =
  /\b(?:resets?|try again)(?: at| on| after)? (\d{4})-(\d\d)-(\d\d)(?:T| at | )(\d\d):(\d\d)(?::\d\d(?:\.\d{1,9})?)?(?: ?(Z|UTC|[+-]\d\d:?\d\d))?/i

/**
 * Returns when a limit ends, as a harness writes it: `in 3 hours 5 minutes`, `resets 3pm (Europe/Berlin)`, `try again at Aug 8th, 2026
 * 12:30 PM`, `reset at 2026-11-27T15:00:00Z`. `unnamed`: the zone where the text has none (default: that of this machine). An hour from now where
 * nothing is said. ms since the epoch. Pure.
 */
export function resetIn(text: string, now: number, unnamed?: string): number {
  const [spanned, days = '0', hours = '0', minutes = '0'] = span.exec(text) ?? []
  if (spanned?.match(/\d+ (day|hour|minute)/)) {
    return now + Number(days) * dayMs + Number(hours) * 3_600_000 + Number(minutes) * 60_000
  }
  const [iso, ...numbers] = dated.exec(text) ?? []
  if (iso !== undefined) {
    const [year, month, day, hour, minute] = numbers.slice(0, 5).map(Number) as [number, number, number, number, number]
    const parts = { year, month, day, hour, minute }
    const [, sign, offsetHours = '0', offsetMinutes = '0'] = /([+-])(\d\d):?(\d\d)/.exec(numbers[5] ?? '') ?? []
    if (numbers[5] === undefined) return instantIn(unnamed, parts)
    const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000
    return utcOf(parts) - (sign === '-' ? -offsetMs : offsetMs)
  }
  const [found, month, day, year, hour, minute = '0', half, zone] = point.exec(text) ?? []
  if (found === undefined) return now + unnamedMs
  const today = partsIn(zone, now)
  if (today === undefined) return now + unnamedMs
  const of = {
    year: Number(year ?? today.year),
    month: month === undefined ? today.month : months.indexOf(month.toLowerCase()) + 1,
    day: Number(day ?? today.day),
    hour: half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0),
    minute: Number(minute),
  }
  if (of.month === 0) return now + unnamedMs
  const at = instantIn(zone, of)
  if (at > now) return at
  // The next time of that name.
  if (day === undefined) return instantIn(zone, { ...of, day: of.day + 1 })
  return year === undefined && at < now - dayMs ? instantIn(zone, { ...of, year: of.year + 1 }) : at
}

interface Parts {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
}

/** undefined: there is no such zone. */
function partsIn(zone: string | undefined, at: number): Parts | undefined {
  try {
    const options = {
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    } as const
    const format = new Intl.DateTimeFormat('en-US', { ...options, ...(zone === undefined ? {} : { timeZone: zone }) })
    const named = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const part = (name: Intl.DateTimeFormatPartTypes) => named.get(name) ?? 0
    return { year: part('year'), month: part('month'), day: part('day'), hour: part('hour'), minute: part('minute') }
  } catch {
    return undefined
  }
}

const utcOf = ({ year, month, day, hour, minute }: Parts): number => Date.UTC(year, month - 1, day, hour, minute)

/** The zone is asked twice: its offset may change between the guess and the instant. */
function instantIn(zone: string | undefined, parts: Parts): number {
  const wanted = utcOf(parts)
  const offsetAt = (at: number) => utcOf(partsIn(zone, at)!) - at
  const guess = wanted - offsetAt(wanted)
  return wanted - offsetAt(guess)
}
