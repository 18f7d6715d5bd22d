import { expect, test } from 'vitest'
import type { LogEvent } from '../../src/log/event.ts'
import { subjectOf } from '../../src/tasks/message-input.ts'
import { wakePayload } from '../../src/wakes/content/payload.ts'

const faces = '😀'.repeat(300)
const message = (...parts: object[]) =>
  ({ messageId: 'm', role: 'ROLE_USER', parts }) as Parameters<typeof subjectOf>[0]

test('a subject is 200 whole characters, never half of one', () => {
  expect(subjectOf(message({ text: `\n x${faces}` }))).toBe(`x${'😀'.repeat(199)}`)
  expect(subjectOf(message({ filename: `x${faces}`, raw: '' }))).toBe(`x${'😀'.repeat(199)}`)
})

test('so is the subject of a wake', () => {
  const event = { type: 'message.sent', trigger: 'SENT_TO_ME', data: { subject: `x${faces}` } } as unknown as LogEvent
  expect(wakePayload(event).payload.subject).toBe(`x${'😀'.repeat(199)}`)
})
