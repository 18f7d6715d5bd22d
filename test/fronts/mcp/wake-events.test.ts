import { expect, test } from 'vitest'
import { eventTypeOf } from '../../../src/fronts/mcp/wake-events.ts'
import { wakeEventTypes } from '../../../src/wakes/content/payload.ts'
import { triggers } from '../../../src/words/events.ts'

test('the wakes of every trigger have a type that a client can agree to', () => {
  const types = triggers.map(eventTypeOf)
  expect(new Set(types).size).toBe(triggers.length)
  for (const type of types) expect(wakeEventTypes).toContain(type)
})
