import { expect, test } from 'vitest'
import { checkSignal, subjectOfSignal } from '../../src/mailbox/sending/signal-types.ts'
import { systemSignals } from '../../src/registry/mail/announcement.ts'

const good = {
  ReviewRequested: { spec_id: 'SPEC-033', instructions: 'Summarize it.' },
  ReviewCompleted: { spec_id: 'SPEC-033', summary: 'Five layers', gaps: ['§5'], recommendation: 'Accept' },
  Acknowledgment: { message: 'Thanks.' },
  TaskAssigned: { description: 'Fix it', todo_number: 7, priority: 'high' },
  StatusUpdate: { description: 'Half done', artifacts: [] },
}

// S2-7
test.each(Object.entries(good))('%s accepts its payload, and every field is checked', (type, payload) => {
  expect(() => checkSignal(type, payload)).not.toThrow()
  expect(() => checkSignal(type, { ...payload, more: true })).not.toThrow()
  for (const field of Object.keys(payload).filter((name) => name !== 'todo_number')) {
    const { [field as keyof typeof payload]: _gone, ...rest } = payload
    const wrong = { code: 'invalid-request', field: `payload.${field}` }
    expect(() => checkSignal(type, rest)).toThrow(expect.objectContaining(wrong))
    expect(() => checkSignal(type, { ...payload, [field]: {} })).toThrow(expect.objectContaining(wrong))
  }
})

test('a todo number may be left out, and may not be anything', () => {
  const { todo_number: _left, ...rest } = good.TaskAssigned
  expect(() => checkSignal('TaskAssigned', rest)).not.toThrow()
  expect(() => checkSignal('TaskAssigned', { ...rest, todo_number: [] })).toThrow(/todo_number/)
})

test('signals that only the gateway sends are refused by name', () => {
  for (const type of systemSignals) {
    const forbidden = { code: 'forbidden', field: 'signalType', message: expect.stringContaining(type) }
    expect(() => checkSignal(type, {})).toThrow(expect.objectContaining(forbidden))
  }
})

test('types of one’s own have a dot or begin with x-', () => {
  for (const type of ['x-SpecStatusChanged', 'X-done', 'deploy.done']) {
    expect(() => checkSignal(type, undefined)).not.toThrow()
  }
  for (const type of ['', ' x', '1st', 'a b', 'x'.repeat(101)])
    expect(() => checkSignal(type, {})).toThrow(/signalType/)
})

// D41
test('a type without a dot or x- is a slip in a known one, and is refused with the nearest name', () => {
  const refused = (type: string) => expect(() => checkSignal(type, {}))
  refused('ReviewRequsted').toThrow(/signalType: ReviewRequsted .*Did you mean ReviewRequested\?.*x-ReviewRequsted/)
  refused('Deployed').toThrow(/is none of ReviewRequested, .*StatusUpdate\. A type of your own has a dot/)
  for (const type of ['toString', 'reviewrequested'])
    refused(type).toThrow(expect.objectContaining({ code: 'invalid-request', field: 'signalType' }))
})

test('a signal without a subject gets one that a person can read', () => {
  expect(subjectOfSignal('ReviewRequested', good.ReviewRequested)).toBe('ReviewRequested: SPEC-033: Summarize it.')
  expect(subjectOfSignal('Acknowledgment', { message: 'Thanks.\nBye.' })).toBe('Acknowledgment: Thanks.')
  expect(subjectOfSignal('deploy.done', undefined)).toBe('deploy.done')
})
