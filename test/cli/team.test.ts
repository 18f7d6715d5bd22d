import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { run } from './terminal.ts'

test('grant is permission by another word: it grants, lists and revokes', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const made = await run(['grant', '@mike', 'CAN_REPLY_TO'], env)
  const id = /rouse grant rm (\S+)/.exec(made.stdout)![1]!
  expect((await run(['permission', 'list'], env)).stdout).toMatch(new RegExp(`${id} +@mike +CAN_REPLY_TO`))
  expect((await run(['grant', 'rm', id], env)).stdout).toBe(`${id} is revoked.\n`)
  expect((await run(['grant', 'list'], env)).stdout).toBe('Nothing is granted.\n')
  expect((await run(['grant', '@mike', 'CAN_FLY'], env)).stderr).toContain('CAN_REPLY_TO')
  const by = await run(['grant', '@mike', 'CAN_REPLY_TO', '--grantor', '@donna'], {
    ...env,
    ROUSE_KEY: gateway.adminKey,
  })
  expect(by.code, by.stderr).toBe(0)
})

test('the operator lists the tasks of one agent: those that it works on, or those that it started', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await gateway.send('donna', 'Review PR 7', { key: mike.key })
  await gateway.send('mike', 'Build it')
  const admin = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const list = async (...argv: string[]) => (await run(['task', 'list', ...argv], admin)).stdout
  expect(await list('--agent', '@donna')).toContain('Review PR 7')
  expect(await list('--agent', '@donna')).not.toContain('Build it')
  expect(await list('--agent', 'mike', '--role', 'originator')).toContain('Review PR 7')
  expect(await list('--agent', 'mike', '--role', 'originator')).not.toContain('Build it')
  expect(await list()).toMatch(/Review PR 7[\s\S]*|Build it[\s\S]*/)
  const own = { ...admin, ROUSE_KEY: donna.key }
  expect((await run(['task', 'list', '--agent', 'donna'], own)).stdout).toContain('Review PR 7')
  const others = await run(['task', 'list', '--agent', 'mike'], own)
  expect([others.code, others.stderr]).toEqual([1, expect.stringContaining('Only the agent itself or the operator')])
  expect((await run(['task', 'list', '--agent', 'mik'], admin)).code).toBe(1)
})

test('priority and wake policy go with a message, and an agent has a default policy', async () => {
  await using gateway = await startGateway()
  const admin = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  await run(['agent', 'add', 'donna', '--default-wake-policy', 'next_turn'], admin)
  const policyOf = async () => (await gateway.call('GET', '/v1/agents/donna')).body.defaultWakePolicy
  expect(await policyOf()).toBe('next_turn')
  await run(['agent', 'update', 'donna', '--default-wake-policy', 'silent'], admin)
  expect(await policyOf()).toBe('silent')
  await run(['send', 'donna', 'Now', '--priority', 'high', '--wake-policy', 'immediate'], admin)
  await run(['mail', 'donna', 'Later', '--priority', 'low', '--wake-policy', 'next_turn'], admin)
  const { messages } = (await gateway.call('GET', '/v1/inbox?agent=donna')).body
  expect(messages).toMatchObject([
    { subject: 'Later', priority: 'low', wakePolicy: 'next_turn' },
    { subject: 'Now', priority: 'high', wakePolicy: 'immediate' },
  ])
  expect((await run(['send', 'donna', 'x', '--priority', 'urgent'], admin)).code).toBe(2)
})

test('the keys of an agent are listed with when they were made and last used, never with the key', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const { stdout } = await run(['agent', 'key', 'list', 'donna'], env)
  expect(stdout).toMatch(/^ID +LABEL +SCOPES +MADE +EXPIRES +LAST USED/)
  expect(stdout).not.toContain(donna.key)
})
