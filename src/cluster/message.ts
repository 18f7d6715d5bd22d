/** One message between gateways: PostgreSQL carries 8,000 bytes. */
export const messageBytesMax = 7_900
const idMax = 200

/** A message from one gateway to the others. */
export interface Message {
  /** The id of the gateway that sends it. */
  readonly from: string
  /** Projects and tasks whose log has grown; null: too many to list, look everywhere. */
  readonly grown: readonly string[] | null
  /** Subscriptions that were changed: their runs end. MCP sessions that were: their streams are looked at. */
  readonly changed: readonly string[]
  /** Keys and agents that were revoked: what is open under them ends. */
  readonly revoked: readonly string[]
  /** True when a subscription is due, for the first gateway that has room. */
  readonly due: boolean
}

/** Returns the message as JSON text. Empty fields are left out. */
export function encode({ from, grown, changed, revoked, due }: Message): string {
  return JSON.stringify({ from, grown, changed, ...(revoked.length > 0 ? { revoked } : {}), ...(due ? { due } : {}) })
}

/**
 * Returns the message in a text, or undefined if it is not one: a bus may be shared with other programs. A missing field is empty,
 * because a gateway of another version may not know it. A field of another shape makes the whole text invalid.
 */
export function decode(text: string): Message | undefined {
  if (text.length > messageBytesMax) return undefined
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
  if (typeof value === 'string' && value.length > 0 && value.length <= idMax) return value
  throw new TypeError('an id')
}

function flag(value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value === true
  throw new TypeError('a flag')
}
