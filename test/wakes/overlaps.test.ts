import { expect, test } from 'vitest'
import { overlapsOf } from '../../src/wakes/rules/overlaps.ts'
import { startGateway } from '../support/gateway.ts'

const route = {
  id: 'one',
  agentId: 'donna',
  trigger: 'SENT_TO_ME',
  filters: {},
  harnessTarget: 'bridge-daemon',
  status: 'active',
} as const

test.each([
  ['of the same mail by a webhook', { harnessTarget: 'a2a-webhook' }, ['two']],
  ['of the same mail by another stream', {}, ['two']],
  ['that waits for its stream', { status: 'waiting' }, ['two']],
  ['of another agent', { agentId: 'lola' }, []],
  ['of another trigger', { trigger: 'PERMISSION_GRANTED' }, []],
  ['that is paused', { status: 'paused' }, []],
  ['by notifications, which begin no turn', { harnessTarget: 'mcp-notifications' }, []],
  ['of a client, which has chosen its events', { harnessTarget: 'mcp-webhook' }, []],
  ['with a filter that the first one does not have', { filters: { senderFilter: ['@lola'] } }, ['two']],
] as const)('a subscription %s', (_, fields, expected) => {
  expect(overlapsOf(route, [route, { ...route, id: 'two', ...fields }])).toEqual(expected)
})

test('filters that leave each other nothing do not overlap', () => {
  const from = (sender: string) => ({ ...route, id: sender, filters: { senderFilter: [sender] } })
  expect(overlapsOf(from('@lola'), [from('@maria')])).toEqual([])
  expect(overlapsOf(from('@lola'), [from('@lola'), { ...from('@lola'), id: 'two' }])).toEqual(['two'])
})

test('who makes a second way to an agent is answered with the first one', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const make = async () => {
    const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
    return (await gateway.call('POST', '/v1/wake-subscriptions', input, { key: donna.key })).body
  }
  const first = await make()
  expect(first).not.toHaveProperty('overlaps')
  const second = await make()
  expect(second.overlaps).toEqual([first.subscriptionId])
  const path = `/v1/wake-subscriptions/${first.subscriptionId}`
  expect((await gateway.call('GET', path, undefined, { key: donna.key })).body.overlaps).toEqual([
    second.subscriptionId,
  ])
  const { body } = await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })
  expect(body.subscriptions.map(({ overlaps }: { overlaps: string[] }) => overlaps.length)).toEqual([1, 1])
})
