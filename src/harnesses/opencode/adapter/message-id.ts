/**
 * Returns the id of a wake in OpenCode. It is derived from the id of the wake, so that the wake can be found later. OpenCode requires
 * `msg` at the beginning. It is not an idempotency key: a second prompt with the same id is added to the first, and starts nothing. Pure.
 */
export function messageIdOf(wakeId: string): string {
  return `${prefix}${wakeId}`
}

const prefix = 'msg_rouse_'
