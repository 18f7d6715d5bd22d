import { busLimits } from '../limits.ts'

/** What one gateway tells the others. */
export interface Message {
  /** The id of the gateway that says it. */
  readonly from: string
  /** Projects and tasks whose log has grown; null: more than fit, look everywhere. */
  readonly grown: readonly string[] | null
  /** Subscriptions that were changed: whoever sends for one stops. */
  readonly changed: readonly string[]
  /** Keys and agents that were taken away: what is open under them ends. */
  readonly revoked: readonly string[]
  /** True where something is due, for whoever has time. */
  readonly due: boolean
}

/** Returns the message as text. What is empty is left out. */
export function encode({ from, grown, changed, revoked, due }: Message): string {
  return JSON.stringify({ from, grown, changed, ...(revoked.length > 0 ? { revoked } : {}), ...(due ? { due } : {}) })
}

/**
 * Returns the message in a text, or undefined for what is none. A bus may be shared, and whoever reaches it can say anything.
 * A field that is missing is empty: a gateway of another build may not know it. A field of another shape makes the whole
 * message none.
 */
export function decode(text: string): Message | undefined {
  if (text.length > busLimits.message.max) return undefined
  try {
    const fields = JSON.parse(text)
    return {
      from: id(fields.from),
      grown: fields.grown === null ? null : ids(fields.grown),
      changed: ids(fields.changed),
      revoked: ids(fields.revoked),
      due: flag(fields.due),
    }
  } catch {
    return undefined
  }
}

function ids(value: unknown): string[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new TypeError('a list of ids')
  return value.map(id)
}

function id(value: unknown): string {
  if (typeof value === 'string' && value.length > 0 && value.length <= busLimits.id.max) return value
  throw new TypeError('an id')
}

function flag(value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value === true
  throw new TypeError('a flag')
}
