import { describe, expect, test } from 'vitest'
import { resourcesOf } from '../../../src/fronts/mcp/resources/resources-of.ts'
import type { EventType } from '../../../src/words/events.ts'
import { fetchCallApi } from './fetch-call-api.ts'
import { connectMcp } from './mcp-client.ts'
import { openOffice } from './office.ts'

type Read = Awaited<ReturnType<Awaited<ReturnType<typeof connectMcp>>['readResource']>>
const jsonOf = ({ contents }: Read) => JSON.parse((contents[0] as { text: string }).text)

test('inbox, threads, tasks and agent cards are resources, listed and with templates', async () => {
  await using office = await openOffice()
  const { donna, bob } = office
  const { threadId } = (await bob.run('send_message', { to: '@donna', subject: 'Hello', body: 'There' })).data
  const { taskId } = (await bob.run('send_task', { to: '@donna', text: 'Review' })).data
  const { resourceTemplates } = await donna.client.listResourceTemplates()
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'rouse://inbox/{handle}',
    'rouse://thread/{id}',
    'rouse://task/{id}',
    'rouse://agent/{handle}',
  ])
  const { resources } = await donna.client.listResources()
  expect(resources.map(({ uri }) => uri)).toEqual([
    'rouse://inbox/@donna',
    `rouse://task/${taskId}`,
    'rouse://agent/@bob',
    'rouse://agent/@donna',
  ])
  const read = async (uri: string) => jsonOf(await donna.client.readResource({ uri }))
  expect(await read('rouse://inbox/@donna')).toMatchObject({ messages: [{}, { subject: 'Hello', body: 'There' }, {}] })
  expect(await read(`rouse://thread/${threadId}`)).toMatchObject({ threadId, messages: [{ body: 'There' }] })
  expect(await read(`rouse://thread/${encodeURIComponent(threadId)}`)).toMatchObject({ threadId })
  expect(await read(`rouse://task/${taskId}`)).toMatchObject({ id: taskId, state: 'submitted', version: 1 })
  expect(await read('rouse://agent/@bob')).toMatchObject({ name: 'bob', skills: [{}] })
  expect(await read('rouse://agent/default:@bob')).toMatchObject({ name: 'bob' })
})

test('a resource takes no mail, and is refused like the tool', async () => {
  await using office = await openOffice()
  const { gateway, donna, bob } = office
  await bob.run('send_message', { to: '@donna', subject: 'Hello' })
  const client = await connectMcp(fetchCallApi(gateway.url, donna.key))
  await client.listResources()
  await client.readResource({ uri: 'rouse://inbox/@donna' })
  await expect(client.readResource({ uri: 'rouse://inbox/@bob' })).rejects.toThrow(
    /has not granted you CAN_READ_INBOX_OF/,
  )
  await expect(client.readResource({ uri: 'rouse://task/none' })).rejects.toThrow(/No such task/)
  await expect(client.readResource({ uri: 'rouse://agent/@nobody' })).rejects.toThrow(/no agent/)
  await expect(client.readResource({ uri: 'rouse://other/1' })).rejects.toThrow()
  expect((await donna.run('who')).data.pendingSignals).toMatchObject([{ subject: 'Hello' }])
})

describe('the resources that an event changes', () => {
  const donna = { id: 'a1', identity: '@donna' }
  const event = (type: EventType, data: object, more: { taskId?: string; actorId?: string } = {}) =>
    resourcesOf({ type, taskId: null, actorId: null, data: { ...data }, ...more }, donna)

  test.each([
    ['mail', event('message.sent', { threadId: 'T' }), ['rouse://inbox/@donna', 'rouse://thread/T']],
    [
      'mail of a task',
      event('message.sent', { threadId: 'T', taskId: 'K' }, { taskId: 'K' }),
      ['rouse://inbox/@donna', 'rouse://thread/T', 'rouse://task/K'],
    ],
    ['a report of another', event('message.acked', { threadId: 'T' }, { actorId: 'a2' }), ['rouse://thread/T']],
    [
      'an own report',
      event('message.acked', { threadId: 'T' }, { actorId: 'a1' }),
      ['rouse://inbox/@donna', 'rouse://thread/T'],
    ],
    ['a change of a task', event('task.state_changed', {}, { taskId: 'K' }), ['rouse://task/K']],
    ['a task of another project', event('task.artifact_added', { taskId: 'K' }), ['rouse://task/K']],
    ['an agent', event('agent.updated', { agent: '@donna' }), ['rouse://agent/@donna']],
    ['anything else', event('claim.taken', { ref: 'x' }), []],
  ])('%s', (_what, changed, expected) => {
    expect(changed).toEqual(expected)
  })
})

test('prompts are listed with their arguments, and say which tools to use', async () => {
  const client = await connectMcp(async () => ({ status: 200, headers: {}, body: {} }))
  const { prompts } = await client.listPrompts()
  expect(prompts.map(({ name, arguments: given = [] }) => [name, given.map((one) => one.name)])).toEqual([
    ['answer-my-mail', []],
    ['hand-over', ['task', 'to']],
  ])
  const mail = await client.getPrompt({ name: 'answer-my-mail' })
  expect(JSON.stringify(mail)).toContain('read_inbox')
  const handOver = await client.getPrompt({ name: 'hand-over', arguments: { task: 'issue 7', to: '@bob' } })
  expect(JSON.stringify(handOver)).toMatch(/issue 7.*@bob.*claim/)
})
