import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startReceiver } from '../../support/receiver.ts'
import { run } from '../terminal.ts'
import { teamDesk } from './team-desk.ts'

test('--prune removes what the lists of the file do not have, says what, and leaves other lists alone', async () => {
  await using at = await teamDesk()
  const { gateway } = at
  const donna = await gateway.addAgent('donna')
  const felix = await gateway.addAgent('felix')
  await gateway.call('POST', '/v1/permissions', { grantee: '@felix', scope: 'CAN_REPLY_TO' }, donna)
  await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  await gateway.subscribe(felix, 'http://127.0.0.1:9/')
  await gateway.send('felix', 'Build it')

  const kept = await at.apply('agents: [{ handle: donna }]\ngrants: []')
  expect(kept).toEqual({
    code: 0,
    stdout: 'Nothing to change: the gateway has what standard input says (1 entry).\n',
    stderr:
      'Not in standard input, and kept: agent @felix, grant CAN_REPLY_TO of @donna to @felix. --prune removes them.\n',
  })
  const noGrants = await at.apply('grants: []', '--prune-all', '--yes')
  expect(noGrants.stdout).toBe('removed  grant CAN_REPLY_TO of @donna to @felix\n1 removed, 0 as they were.\n')
  const onlyDonna = await at.apply('agents: [{ handle: donna }]', '--prune', '--yes')
  expect(onlyDonna.stdout).toBe('removed  agent @felix, and 1 of its tasks rejected\n1 removed, 1 as they were.\n')
  expect((await at.subscriptions()).map((one: { agentIdentity: string }) => one.agentIdentity)).toEqual(['@donna'])
  expect((await at.apply('subscriptions: []', '--prune-all', '--yes')).stdout).toContain('removed  subscription @donna')
  expect(await at.subscriptions()).toEqual([])
})

test('on a terminal what would be removed is named, and removed only after a yes', async () => {
  await using at = await teamDesk()
  await at.gateway.addAgent('felix')
  await at.gateway.addAgent('donna')
  const path = join(at.directory, 'team.yaml')
  writeFileSync(path, 'agents: [{ handle: donna }]')
  const asked: string[] = []
  const answering = (answer: string) => ({
    ask: async (question: string) => {
      asked.push(question)
      return answer
    },
  })
  const apply = (answer: string, ...argv: string[]) =>
    run(['apply', path, '--prune', ...argv], at.env, answering(answer))
  expect(await apply('')).toMatchObject({ code: 2, stdout: '', stderr: 'error: Nothing was changed.\n' })
  expect(asked).toEqual(['Remove agent @felix? The open tasks of an agent are rejected. [y/N] '])
  expect((await at.gateway.call('GET', '/v1/agents')).body.agents).toHaveLength(2)
  expect((await apply('y')).stdout).toContain('removed  agent @felix')
  await at.gateway.addAgent('felix')
  expect((await apply('', '--yes')).code).toBe(0)
  expect(asked).toHaveLength(2)
})

test('without a terminal nothing is removed, unless --yes is given', async () => {
  await using at = await teamDesk()
  for (const handle of ['donna', 'felix']) await at.gateway.addAgent(handle)
  const text = 'agents: [{ handle: donna }]'
  const { code, stdout, stderr } = await at.apply(text, '--prune')
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain('Remove agent @felix? The open tasks of an agent are rejected. Nobody is at a terminal')
  expect((await at.gateway.call('GET', '/v1/agents')).body.agents).toHaveLength(2)
  expect((await at.apply(text, '--prune', '--yes')).code).toBe(0)
})

test('a list that is empty by mistake removes nothing, not with --yes either', async () => {
  await using at = await teamDesk()
  const handles = ['donna', 'felix', 'mike']
  for (const handle of handles) await at.gateway.addAgent(handle)
  const left = async () => (await at.gateway.call('GET', '/v1/agents')).body.agents.length
  for (const options of [['--prune'], ['--prune', '--yes'], ['--prune', '--dry-run']]) {
    const { code, stderr } = await at.apply('agents: []', ...options)
    expect(code).toBe(2)
    expect(stderr).toBe(
      'error: No agents would be left: @mike, @felix, @donna. Nothing was changed. --prune-all removes them all.\n',
    )
  }
  expect((await at.apply('agents: []', '--prune-all')).code).toBe(2)
  expect(await left()).toBe(3)
  expect((await at.apply('agents: []', '--prune-all', '--yes')).code).toBe(0)
  expect(await left()).toBe(0)
})

test('with --prune a webhook that has moved keeps its key and what it has not been sent yet', async () => {
  await using at = await teamDesk()
  await using receiver = await startReceiver()
  const donna = await at.gateway.addAgent('donna')
  const { id } = await at.gateway.subscribe(donna, 'http://127.0.0.1:9/')
  await at.gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { status: 'paused' }, donna)
  await at.gateway.send('donna', 'while it was paused')
  const moved = `
subscriptions:
  - agentIdentity: donna
    trigger: TASK_STATE_CHANGED
    harnessTargetMetadata: { url: "${receiver.url}", maxInFlight: 2 }
    status: active
`
  const beside = await at.apply(moved, '--dry-run')
  expect(beside.stdout).not.toMatch(/^-(?!-)/m)
  const { code, stdout, stderr } = await at.apply(moved, '--prune')
  expect(code, stderr).toBe(0)
  expect(stdout).toContain(
    `changed  subscription @donna TASK_STATE_CHANGED a2a-webhook ${receiver.url}: harnessTargetMetadata, status\n`,
  )
  await receiver.waitFor(1)
  expect(await at.subscriptions()).toMatchObject([
    { subscriptionId: id, harnessTargetMetadata: { url: receiver.url, coalesceWindow: 0, maxInFlight: 2 } },
  ])
})

test('settings of a subscription change in place; another address or other filters make another one', async () => {
  await using at = await teamDesk()
  await at.gateway.addAgent('donna', { aliases: ['reviewer'] })
  const text = (url: string, fields: string) =>
    `subscriptions: [{ agentIdentity: reviewer, trigger: SENT_TO_ME, harnessTargetMetadata: { url: "${url}", ${fields} } }]`
  await at.apply(text('http://127.0.0.1:9/', 'coalesceWindow: 5'), '--save-keys', at.keys)
  const [first] = await at.subscriptions()
  const changed = await at.apply(text('http://127.0.0.1:9/', 'coalesceWindow: 7.0004, probe: false'))
  expect(changed.stdout).toContain('changed  subscription @donna SENT_TO_ME')
  expect(await at.subscriptions()).toMatchObject([
    { subscriptionId: first.subscriptionId, harnessTargetMetadata: { coalesceWindow: 7, probe: false } },
  ])
  expect((await at.apply(text('http://127.0.0.1:9/', 'coalesceWindow: 7.0004'))).stdout).toContain('Nothing to change')
  const other = await at.apply(text('http://127.0.0.1:9/b', 'includeOwn: true'), '--save-keys', at.keys)
  expect(other.stdout).toContain('made     subscription @donna SENT_TO_ME a2a-webhook http://127.0.0.1:9/b')
  expect(await at.subscriptions()).toHaveLength(2)
})

test('one that is new and paused sends nothing', async () => {
  await using at = await teamDesk()
  await at.gateway.addAgent('donna')
  const text = 'subscriptions: [{ agentIdentity: donna, trigger: SENT_TO_ME, harnessTarget: disabled, status: paused }]'
  expect((await at.apply(text)).code).toBe(0)
  expect(await at.subscriptions()).toMatchObject([{ status: 'paused' }])
  expect((await at.apply(text)).stdout).toContain('Nothing to change')
  expect((await at.apply(text.replace('paused', 'active'))).stdout).toContain(': status\n')
  expect(await at.subscriptions()).toMatchObject([{ status: 'active' }])
})
