import { expect, test } from 'vitest'
import { jsonSchemaOf } from '../../../../src/fronts/mcp/json-schemas.ts'
import { liberalArguments } from '../../../../src/fronts/mcp/tools/liberal-arguments.ts'
import { tools } from '../../../../src/fronts/mcp/tools/table.ts'
import { openOffice } from '../office.ts'

const schemaOf = (tool: string) => jsonSchemaOf(tools.find(({ name }) => name === tool)!.input, 'input')

test.each<[tool: string, given: unknown, taken: unknown]>([
  ['whoami', null, {}],
  ['read_inbox', { limit: 10, thread: null, signalType: null, since: null }, { limit: 10 }],
  ['read_inbox', { thread: '', agent: '', limit: '' }, {}],
  ['read_inbox', { limit: '10', unread: 'False' }, { limit: 10, unread: false }],
  [
    'send_message',
    { to: '@bob', payload: '{"a":1}', taggedConcepts: ' ["b"] ' },
    { to: '@bob', payload: { a: 1 }, taggedConcepts: ['b'] },
  ],
  ['claim', { action: 'claim', ref: 42 }, { action: 'claim', ref: '42' }],
  // Fields that must be given stay, so that their refusal says what is wrong with them.
  ['send_task', { to: '@bob', text: '', contextId: '' }, { to: '@bob', text: '' }],
  // Where null says something, it stays; within what others define, everything stays.
  [
    'manage_wake_subscription',
    { action: 'list', filters: null, harnessTargetMetadata: '{"coalesceWindow":null,"url":""}' },
    { action: 'list', harnessTargetMetadata: { coalesceWindow: null } },
  ],
  [
    'manage_wake_subscription',
    { harnessTargetMetadata: { coalesceWindow: '5', includeOwn: 'true' } },
    { harnessTargetMetadata: { coalesceWindow: 5, includeOwn: true } },
  ],
  ['send_message', { payload: { a: null, b: '', c: '1' } }, { payload: { a: null, b: '', c: '1' } }],
  ['move_task', { artifacts: '[{"parts":"[{\\"text\\":\\"\\"}]"}]' }, { artifacts: [{ parts: [{ text: '' }] }] }],
  // A value that fits in no way is refused later, by name.
  [
    'send_message',
    { payload: '[1]', taggedConcepts: 'b', colour: 'red' },
    { payload: '[1]', taggedConcepts: 'b', colour: 'red' },
  ],
  ['manage_wake_subscription', { sinceLogId: '9007199254740993' }, { sinceLogId: '9007199254740993' }],
  ['read_inbox', { limit: 'ten', unread: 1 }, { limit: 'ten', unread: 1 }],
])('%s takes %j as %j', (tool, given, taken) => {
  expect(liberalArguments(schemaOf(tool), given)).toEqual(taken)
})

test('a text that nests too deeply is refused before it is read', () => {
  const deep = `{"a":${'['.repeat(100)}${']'.repeat(100)}}`
  expect(() => liberalArguments(schemaOf('send_message'), { payload: deep })).toThrow(/levels of nested/)
})

test('a tool runs with what a model sends for its arguments', async () => {
  await using office = await openOffice()
  const sent = await office.donna.run('send_message', { to: '@bob', subject: 'hi', ref: null, payload: '{"a":1}' })
  expect(sent.isError).toBe(false)
  const inbox = await office.bob.run('read_inbox', { limit: '10', thread: '', signalType: null })
  expect(inbox.data.messages).toMatchObject([{ subject: 'hi', payload: { a: 1 } }])
})
