import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { makeHome } from './install/homes.ts'
import { startStubGateway } from './stub-gateway.ts'
import { run } from './terminal.ts'

const as = (gateway: TestGateway, agent?: { key: string }) => ({
  ROUSE_URL: gateway.url,
  ROUSE_KEY: agent?.key ?? gateway.adminKey,
})

// S4-11, S4-8
test('who shows agents, their sessions, what they do and what they work on', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna', { displayName: 'Sintra' })
  await gateway.addAgent('mike')
  const session = { surface: 'codex', capabilities: ['has-telegram'] }
  const { sessionId } = (await gateway.call('POST', '/v1/sessions', session, donna)).body
  await gateway.call('PUT', '/v1/presence', { state: 'active', source: 'harness-hook' }, donna)
  await gateway.call('POST', '/v1/claims', { ref: 'issue-7' }, donna)
  const { code, stdout } = await run(['who'], as(gateway))
  expect(code).toBe(0)
  const short = `s${sessionId.slice(-6)}`
  expect(stdout).toMatch(new RegExp(`@donna +Sintra +${short} +codex +\\w+ +- +\\S+Z +has-telegram +issue-7\n`))
  expect(stdout).toMatch(/@mike +- +- +- +no session +- +never/)
  const json = JSON.parse((await run(['who', '--json'], as(gateway, donna))).stdout)
  expect(json).toMatchObject({ agents: [{ handle: '@donna' }, { handle: '@mike' }], claims: [{ owner: '@donna' }] })
  const mail = await run(['mail', short, 'Hello'], as(gateway))
  expect(mail.stdout).toContain('to:       @donna\n')
})

test('who shows the tasks that an agent works on, beside its claims', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  const [working, claimed, waiting] = [
    await gateway.send('donna', 'Please review PR 7'),
    await gateway.send('donna', 'Another one'),
    await gateway.send('donna', 'Not begun'),
  ]
  for (const { id } of [working, claimed]) await gateway.move(donna, id, 'working')
  await gateway.call('POST', '/v1/claims', { ref: claimed.id }, donna)
  const { stdout } = await run(['who'], as(gateway))
  expect(stdout).toContain(`${claimed.id}, …${working.id.slice(-6)} Please review`)
  expect(stdout).not.toContain(waiting.id.slice(-6))
  expect(stdout).toMatch(/@mike .* -\n/)
})

// D28
test('who shows whether wakes reach an agent: waiting is one that gathers until something reads it', async () => {
  await using gateway = await startGateway()
  const [donna, mike] = [await gateway.addAgent('donna'), await gateway.addAgent('mike')]
  const add = (agent: { key: string }, harnessTarget: string) =>
    gateway.call('POST', '/v1/wake-subscriptions', { trigger: 'SENT_TO_ME', harnessTarget }, agent)
  await add(donna, 'bridge-daemon')
  await add(donna, 'disabled')
  await add(mike, 'disabled')
  const { stdout } = await run(['who'], as(gateway))
  expect(stdout).toMatch(/@donna .* no session +waiting /)
  expect(stdout).toMatch(/@mike .* no session +- /)
  expect((await run(['who'], as(gateway, mike))).stdout).toMatch(/@donna .* no session +- /)
})

test('an empty list and a missing gateway are reported', async () => {
  await using gateway = await startGateway()
  const { stdout } = await run(['who'], as(gateway))
  expect(stdout).toBe('No agents yet. Add one with: rouse agent add @donna\n')
  const gone = await startStubGateway({})
  await gone.stop()
  for (const argv of [['who'], ['inbox'], ['claim', 'list'], ['project', 'list']]) {
    expect((await run(argv, { ROUSE_URL: gone.url })).code).toBe(3)
  }
})

// S4-7
test('claims are taken, handed off, listed and released', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  expect((await run(['claim', 'list'], as(gateway))).stdout).toBe('Nothing is claimed.\n')
  expect((await run(['claim', 'take', 'issue-7'], as(gateway, donna))).stdout).toBe("issue-7 is @donna's.\n")
  const refused = await run(['claim', 'take', 'issue-7'], as(gateway, mike))
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is claimed by @donna, last seen at')])
  const handed = await run(['claim', 'handoff', 'issue-7', '@mike', 'Docs', 'are', 'missing'], as(gateway, donna))
  expect(handed.stdout).toBe("issue-7 is @mike's, who got a message.\n")
  expect((await run(['inbox'], as(gateway, mike))).stdout).toContain('Handed over to you: issue-7')
  expect((await run(['claim', 'list', '--owner', 'mike'], as(gateway))).stdout).toMatch(/issue-7 +@mike .* held\n/)
  expect((await run(['claim', 'release', 'issue-7'], as(gateway, mike))).stdout).toBe('issue-7 is free.\n')
})

// S4-14
test('the operator works in another project by --project or ROUSE_PROJECT', async () => {
  await using gateway = await startGateway()
  expect((await run(['project', 'add', 'web'], as(gateway))).stdout).toContain('--project web')
  expect((await run(['project', 'list'], as(gateway))).stdout).toMatch(/default.*\n.*web/)
  const added = await run(['agent', 'add', '@donna', '--project', 'web', '--contact', 'listed'], as(gateway))
  expect(added.stdout).toContain(`${gateway.url}/projects/web/agents/donna`)
  expect((await run(['agent', 'list'], as(gateway))).stdout).toContain('No agents yet')
  const there = { ...as(gateway), ROUSE_PROJECT: 'web' }
  expect((await run(['agent', 'show', '@donna'], there)).stdout).toMatch(/contact: +listed/)
  expect((await run(['send', '@donna', 'Hello'], there)).stdout).toContain('submitted')
  expect((await run(['who'], { ...as(gateway), ROUSE_PROJECT: 'nowhere' })).stderr).toContain('project-not-found')
})

// S1-26
test('permissions are granted, listed and revoked', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  expect((await run(['permission', 'list'], as(gateway, donna))).stdout).toBe('Nothing is granted.\n')
  const added = await run(['permission', 'add', '@mike', 'CAN_REPLY_TO'], as(gateway, donna))
  const id = /rm (\S+)/.exec(added.stdout)![1]!
  expect((await run(['permission', 'list'], as(gateway))).stdout).toMatch(
    new RegExp(`${id} +@mike +CAN_REPLY_TO +@donna `),
  )
  expect((await run(['permission', 'rm', id], as(gateway, donna))).stdout).toBe(`${id} is revoked.\n`)
  const argv = ['permission', 'add', 'mike', 'CAN_REPLY_TO', '--grantor', 'donna']
  expect((await run(argv, as(gateway))).code).toBe(0)
  expect((await run(['permission', 'add', 'mike', 'CAN_FLY'])).code).toBe(2)
})

// S1-8
test('who says of an agent without a session that it has none, and when its key was last used', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  await run(['task', 'list'], as(gateway, donna))
  // The use of a key is written within a second.
  const row = /@donna +- +- +- +no session +- +(\d+ s ago|now) /
  const { stdout } = await until(
    () => run(['who'], as(gateway), { columns: 100 }),
    ({ stdout }) => row.test(stdout),
  )
  expect(stdout).toMatch(/@mike +- +- +- +no session +- +never/)
  expect(stdout).not.toContain('away')
  const { body } = await gateway.call('GET', '/v1/agents/donna')
  expect(Date.now() - Date.parse(body.lastSeenAt)).toBeLessThan(60_000)
  await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, donna)
  const present = await gateway.call('GET', '/v1/agents/donna')
  expect(present.body.lastSeenAt >= present.body.session.lastSeenAt).toBe(true)
})

test('who says how many routes start a turn for the same mail', async () => {
  const sub = (subscriptionId: string, overlaps: string[]) => ({
    subscriptionId,
    agentIdentity: '@donna',
    harnessTarget: 'bridge-daemon',
    status: 'active',
    overlaps,
  })
  const donna = {
    handle: '@donna',
    displayName: 'Donna',
    session: null,
    presence: { state: 'unknown' },
    lastSeenAt: null,
  }
  await using gateway = await startStubGateway({
    'GET /v1/agents': { json: { agents: [donna], nextPageToken: '' } as never },
    'GET /v1/claims': { json: { claims: [], nextPageToken: '' } },
    'GET /v1/tasks': { json: { tasks: [], nextPageToken: '', totalSize: 0 } },
    'GET /v1/wake-subscriptions': {
      json: { subscriptions: [sub('a', ['b']), sub('b', ['a'])], nextPageToken: '' } as never,
    },
  })
  expect((await run(['who', '--url', gateway.url])).stdout).toContain('active, 2 routes')
})

test('who and doctor show what an agent follows as MCP tasks', async () => {
  await using gateway = await startGateway()
  const [donna, mike] = [await gateway.addAgent('donna'), await gateway.addAgent('mike')]
  const { id: taskId } = await gateway.send('mike', 'Please review PR 7', { key: donna.key })
  for (const body of [{ taskId }, {}]) await gateway.call('POST', '/v1/followers', body, donna)
  const follows = '@donna: follows 1 task and its next mail, 2 of them polled now\n'
  expect((await run(['who'], as(gateway))).stdout).toContain(follows)
  expect((await run(['who'], as(gateway, mike))).stdout).not.toContain('follows')
  using home = makeHome()
  const profile = { url: gateway.url, key: donna.key, identity: '@donna' }
  home.write('.config/rouse/profiles.json', JSON.stringify({ current: 'donna', profiles: { donna: profile } }))
  expect((await home.rouse('doctor')).stdout).toContain('follows 1 task and its next mail, 2 of them polled now')
})
