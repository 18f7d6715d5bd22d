/**
 * The id under which OpenCode keeps a wake: a function of the wake's own, so that whoever looks for it later finds it. OpenCode demands
 * the `msg` at its beginning. It is no idempotency key: a second prompt with the same id is added to the first, and starts nothing. Pure.
 */
export function messageIdOf(wakeId: string): string {
  return `${prefix}${wakeId}`
}

const prefix = 'msg_rouse_'
