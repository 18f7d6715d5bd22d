import { expect, test } from 'vitest'
import { readVersion } from '../../src/lib/version.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { problem, startStubGateway } from './stub-gateway.ts'
import { run } from './terminal.ts'

const as = (gateway: TestGateway, agent?: { key: string }) => ({
  ROUSE_URL: gateway.url,
  ROUSE_KEY: agent?.key ?? gateway.adminKey,
})

test('status shows on one screen of 80 columns what needs a person', async () => {
  await using receiver = await startReceiver(404)
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  await gateway.subscribe(donna, receiver.url)
  const asks = await gateway.send('donna', 'Please review PR 7')
  await gateway.move(donna, asks.id, 'working')
  await gateway.move(donna, asks.id, 'input-required', { message: { parts: [{ text: 'Which branch?' }] } })
  await gateway.send('mike', 'Not begun')
  await gateway.call('PUT', '/v1/parked', { until: null, reason: 'spend-cap' }, donna)
  await gateway.call('PATCH', '/v1/gate', { agent: '@mike', restarts: 'tripped', reason: 'a person looks first' })
  const { stdout } = await until(
    () => run(['status'], as(gateway), { columns: 80 }),
    ({ stdout }) => /degraded/.test(stdout),
  )
  expect(stdout).toMatch(new RegExp(`^ready {2}${gateway.url}\n`))
  expect(stdout).toContain(`version:        ${readVersion()}\n`)
  expect(stdout).toMatch(/subscriptions: +1 degraded\n/)
  expect(stdout).toMatch(/@donna +degraded +http-404/)
  expect(stdout).toMatch(/@donna +parked +spend-cap, until a person acts\n/)
  expect(stdout).toMatch(/@mike +tripped +nudges \w+, restarts tripped \(a person looks first\)\n/)
  expect(stdout).toMatch(/input-required +@operator +\S.* Please review PR 7\n.* submitted +@mike .* Not begun\n/)
  const lines = stdout.split('\n')
  expect(lines.length).toBeLessThan(25)
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  const json = JSON.parse((await run(['status', '--json'], as(gateway))).stdout)
  expect(json).toMatchObject({
    gateway: { ready: true },
    version: readVersion(),
    unread: [],
    agents: [{ agent: '@donna' }, { agent: '@mike' }],
    waitingCount: 2,
  })
})

test('status counts all tasks that wait, and shows those that have waited the longest', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  await gateway.call('PATCH', '/v1/projects/default', { limits: { messagesPerMinute: 0, requestsPerMinute: 0 } })
  const asks = await gateway.send('donna', 'The oldest')
  await gateway.move(donna, asks.id, 'input-required', { message: 'Where?' })
  await clock.advance(60_000)
  for (let n = 0; n < 1_001; n++) await gateway.send('donna', `Task ${n}`)
  const { stdout } = await run(['status'], as(gateway))
  expect(stdout).toMatch(/waiting: +1002 tasks, /)
  expect(stdout).toMatch(/ The oldest\n.* Task 0\n.* Task 1\n.* Task 2\n.* Task 3\n/)
  expect(JSON.parse((await run(['status', '--json'], as(gateway))).stdout)).toMatchObject({ waitingCount: 1_002 })
})

test('status of a gateway that is not ready says what it lacks, and exits with 1', async () => {
  await using gateway = await startStubGateway({
    'GET /readyz': { status: 503, json: { status: 'not-ready', store: false, writes: false, dispatcher: true } },
    'GET /v1/whoami': problem(503, 'unavailable', 'The store does not answer'),
  })
  const { code, stdout } = await run(['status', '--url', gateway.url])
  expect(code).toBe(1)
  expect(stdout).toMatch(/^down \(store and writes down\) {2}http/)
})

test('what the gateway cannot read is not shown as nothing', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.send('donna', 'Not begun')
  await besideStore(gateway.dataDir, 'alter table task rename to misplaced')
  const { code, stdout } = await run(['status'], as(gateway), { columns: 80 })
  expect(code).toBe(1)
  expect(stdout).toMatch(/subscriptions: +none\n/)
  expect(stdout).toMatch(/waiting: +unknown: the gateway cannot read it, and its log has the reason\n/)
  expect(JSON.parse((await run(['status', '--json'], as(gateway))).stdout)).toMatchObject({
    unread: expect.arrayContaining(['waiting']),
  })
  for (const argv of [['inbox'], ['who'], ['needs'], ['task', 'show', 'abcdef12']]) {
    const { code, stdout, stderr } = await run(argv, as(gateway, argv[0] === 'inbox' ? donna : undefined))
    expect([code, stdout], argv[0]).toEqual([1, ''])
    expect(stderr).toContain('Internal error')
  }
})

test('inbox shows the questions of the tasks of its reader, and answer answers one', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const task = await gateway.send('donna', 'Please review PR 7')
  await gateway.move(donna, task.id, 'working')
  const short = task.id.slice(-8)
  const early = await run(['answer', short, 'main'], as(gateway))
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('The task is working and asks nothing.')])
  await gateway.move(donna, task.id, 'input-required', { message: { parts: [{ text: 'Which\u001b[2J branch?' }] } })
  const { stdout } = await run(['inbox'], as(gateway), { columns: 80 })
  expect(stdout).toMatch(/Waiting for your answer:\n.*QUESTION\n….{8} .*@donna .* Which\S* branch\?\n/)
  expect(stdout).not.toContain('\u001b')
  expect((await run(['inbox'], as(gateway, donna))).stdout).not.toContain('Waiting for your answer')
  expect((await run(['answer', short, 'The main branch'], as(gateway))).code).toBe(0)
  const shown = await run(['task', 'show', task.id], as(gateway))
  expect(shown.stdout).toContain('The main branch')
  expect((await run(['inbox'], as(gateway))).stdout).not.toContain('Waiting for your answer')
})

test('who says of a receiver that is away since when, and when it is tried again', async () => {
  await using receiver = await startReceiver(503)
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, receiver.url, { harnessTargetMetadata: { retryForSeconds: 600 } })
  await gateway.send('donna', 'Please review PR 7')
  const { stdout } = await until(
    () => run(['who'], as(gateway), { columns: 80 }),
    ({ stdout }) => /retrying since/.test(stdout),
  )
  expect(stdout).toMatch(/@donna .* retrying /)
  expect(stdout).toMatch(/\n@donna: retrying since .* \(\d+ tr\w+, http-503\), next try /)
  const { stdout: list } = await run(['sub', 'list'], as(gateway), { columns: 80 })
  expect(list).toMatch(/ active, retrying .*\n\n….{8}: retrying since .* next try .*\n$/)
})
