import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { dataToStored, readStored } from '../../src/log/stored-data.ts'
import type { EventType } from '../../src/words/events.ts'

interface Event {
  readonly type: EventType
  readonly taskId: string | null
  readonly actor: string
  readonly data: JsonObject
}

const actor = '@lola'
const concepts = fc.constantFrom<string[]>([], [], ['build'], ['build', 'nightly'])
const priority = fc.constantFrom('normal', 'normal', 'high')
const orNull = (...values: readonly string[]) => fc.constantFrom(null, ...values)

/** A message's own fields: `from` is not always the actor, and a message does not always begin its thread. */
const mail = fc.record({
  messageId: fc.constantFrom('MESSAGE:1', 'MESSAGE:2', 'MESSAGE:task-1'),
  from: fc.constantFrom(actor, '@donna'),
  subject: fc.string(),
  priority,
  wakePolicy: fc.constantFrom('immediate', 'silent'),
  taggedConcepts: concepts,
  isReplyTo: orNull('MESSAGE:0'),
  isBroadcast: fc.boolean(),
  threadId: fc.constantFrom('MESSAGE:1', 'MESSAGE:2', 'MESSAGE:task-1'),
})
const sent = fc.record({ mail, taskId: orNull('task-1'), signal: fc.boolean() }).map(
  ({ mail: data, taskId, signal }): Event => ({
    type: 'message.sent',
    taskId,
    actor,
    data: {
      ...data,
      ...(taskId === null ? { type: 'msg' } : { taskId }),
      ...(signal ? { signalType: 'PeerLeft' } : {}),
    },
  }),
)
/** The log of another project has the event without the task: `taskId` is in its data alone. */
const changed = fc
  .record({
    mail: fc.option(mail),
    isHere: fc.boolean(),
    before: orNull('working'),
    priority,
    concepts,
    handedOver: fc.boolean(),
  })
  .map(({ mail: message, isHere, before, priority, concepts: taggedConcepts, handedOver }): Event => {
    const { subject: _s, wakePolicy: _w, isBroadcast: _b, ...summary } = message ?? ({} as Record<string, never>)
    return {
      type: 'task.state_changed',
      taskId: isHere ? 'task-1' : null,
      actor,
      data: {
        taskId: 'task-1',
        contextId: 'context-1',
        previousState: before,
        newState: 'submitted',
        version: 1,
        originator: actor,
        assignee: '@donna',
        ...(handedOver ? { previousAssignee: '@mike' } : {}),
        priority,
        taggedConcepts,
        lastModifiedAt: '2026-11-23T00:00:00.000Z',
        reason: 'said so',
        ...(message ? { message: summary } : {}),
        routing: { recipientId: 'agent-1' },
      },
    }
  })
const other = fc.jsonValue().map((value): Event => ({ type: 'agent.updated', taskId: null, actor, data: { value } }))

test('data that was stored is read as it was, member for member', () => {
  fc.assert(
    fc.property(fc.oneof(sent, changed, other), ({ data, ...row }) => {
      expect(JSON.stringify(readStored(row, dataToStored(row, data)))).toBe(JSON.stringify(data))
    }),
    { numRuns: 2_000 },
  )
})

test('what the row says, and what most messages have, is not stored', () => {
  const row = { type: 'message.sent', taskId: 'task-1', actor } as const
  const usual = { priority: 'normal', taggedConcepts: [], isReplyTo: null, isBroadcast: false }
  const data = { messageId: 'MESSAGE:1', from: actor, subject: 's', wakePolicy: 'immediate', ...usual }
  const stored = dataToStored(row, { ...data, threadId: 'MESSAGE:1', taskId: 'task-1' })
  expect(JSON.parse(stored)).toEqual({ messageId: 'MESSAGE:1', subject: 's', wakePolicy: 'immediate' })
})
