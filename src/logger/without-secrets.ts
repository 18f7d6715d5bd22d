const secretNames: ReadonlySet<string> = new Set(['authorization', 'apiKey', 'signingKey', 'token', 'credentials'])
const instead = '[Redacted]'

/**
 * Returns the fields of a line, without the values of fields whose names say that they are secret, here or one level below. Lines
 * carry no secrets: this is for the day on which one does. It looks at names only, because a wildcard of pino costs more than the line.
 */
export function withoutSecrets(fields: object): Record<string, unknown> {
  return redacted(fields as Record<string, unknown>, (value) => (isPlain(value) ? redacted(value, asItIs) : value))
}

/** Copies nothing when nothing is secret. */
function redacted(fields: Record<string, unknown>, below: (value: unknown) => unknown): Record<string, unknown> {
  let safe = fields
  for (const name in fields) {
    const shown = secretNames.has(name) ? instead : below(fields[name])
    if (shown === fields[name]) continue
    if (safe === fields) safe = { ...fields }
    safe[name] = shown
  }
  return safe
}

const asItIs = (value: unknown): unknown => value

/** An error has a serializer of its own, which takes its message and its stack. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Error) && !Array.isArray(value)
}
