import type { Trigger } from '../../words/events.ts'

/** The triggers whose wakes have another name. */
const others: Partial<Record<Trigger, string>> = { WAKE_RECEIPT: 'wake/receipt', WAKE_FAILED: 'wake/event_failed' }

/** Returns the type of a trigger's wakes. A client that takes it also takes the digests and tests of such a subscription. Pure. */
export function eventTypeOf(trigger: Trigger): string {
  return others[trigger] ?? `wake/${trigger.toLowerCase()}`
}
