import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const dayMs = 24 * 3_600_000

interface Desk extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly donna: TestAgent
  readonly bob: TestAgent
  /** Sends a task of donna's to @bob; returns its id, and the id of its follower. */
  followed(): Promise<{ readonly taskId: string; readonly id: string }>
  poll(id: string, waitSeconds?: number, signal?: AbortSignal): Promise<Followed>
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
type Followed = any

async function openDesk(env: Record<string, string> = {}): Promise<Desk> {
  const gateway = await startGateway({ env: { ROUSE_WEBHOOK_ALLOW: '127.0.0.0/8', ...env } })
  const [donna, bob] = [await gateway.addAgent('donna'), await gateway.addAgent('bob')]
  return {
    gateway,
    donna,
    bob,
    async followed() {
      const { id: taskId } = await gateway.send('@bob', 'Review PR 7', { key: donna.key })
      const { status, body } = await gateway.call('POST', '/v1/followers', { taskId }, donna)
      expect([status, body.status]).toEqual([201, 'working'])
      return { taskId, id: body.followerId }
    },
    async poll(id, waitSeconds, signal) {
      const query = waitSeconds === undefined ? '' : `?waitSeconds=${waitSeconds}`
      const headers = { authorization: `Bearer ${donna.key}`, 'rouse-pending-signals': 'none' }
      const init = { headers, ...(signal ? { signal } : {}) }
      return (await fetch(`${gateway.url}/v1/followers/${id}${query}`, init)).json()
    },
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

const listed = async ({ gateway, donna }: Desk): Promise<Followed[]> =>
  (await gateway.call('GET', '/v1/followers', undefined, donna)).body.followers

test('a poll is held, and released by the end; without a wait it is answered at once', async () => {
  await using desk = await openDesk()
  const { taskId, id } = await desk.followed()
  expect(await desk.poll(id)).toMatchObject({ followerId: id, status: 'working', state: 'submitted', taskId })
  expect(await desk.poll(id, 1)).toMatchObject({ status: 'working', pollIntervalMs: 1_000 })
  const polled = desk.poll(id, 50)
  await desk.gateway.move(desk.bob, taskId, 'working')
  await desk.gateway.move(desk.bob, taskId, 'completed')
  expect(await polled).toMatchObject({ status: 'completed', state: 'completed' })
})

test('an end that came while nobody polled is there for the first poll', async () => {
  await using desk = await openDesk()
  const { taskId, id } = await desk.followed()
  await desk.gateway.move(desk.bob, taskId, 'completed')
  expect(await desk.poll(id, 50)).toMatchObject({ status: 'completed' })
})

test('a poll beyond the calls that may wait is answered at once, and asks for more patience', async () => {
  await using desk = await openDesk()
  const { id } = await desk.followed()
  await desk.gateway.call('PATCH', '/v1/projects/default', { limits: { blockingCalls: 2 } })
  const gone = new AbortController()
  // One key may have half of the calls: of two polls that come at once, either may be the second.
  const both = [desk.poll(id, 50, gone.signal), desk.poll(id, 50, gone.signal)]
  expect(await Promise.race(both)).toMatchObject({ pollIntervalMs: 10_000 })
  gone.abort()
  await Promise.allSettled(both)
})

test('a poll is a sign of life of the session while it lasts, and no act', async () => {
  await using desk = await openDesk()
  const { gateway, donna } = desk
  const { id } = await desk.followed()
  const { body } = await gateway.call('POST', '/v1/sessions', { surface: 'claude_code' }, donna)
  const session = async () =>
    (await gateway.call('GET', '/v1/sessions', undefined, { ...donna, headers: { 'rouse-pending-signals': 'none' } }))
      .body.sessions[0]
  const before = await session()
  const gone = new AbortController()
  const held = desk.poll(id, 50, gone.signal).catch(() => undefined)
  await until(
    () => listed(desk),
    ([one]) => one.isPolled && one.sessionId === body.sessionId,
  )
  expect((await session()).actedAt).toBe(before.actedAt)
  gone.abort()
  await held
  // Nobody polls any more: at once, and not after the time of the next poll.
  await until(
    () => listed(desk),
    ([one]) => !one.isPolled,
    5_000,
  )
})

test.each(['TASK_STATE_CHANGED', 'SENT_TO_ME'])(
  'one end is one turn: a subscription to %s does not wake for what is polled for',
  async (trigger) => {
    await using desk = await openDesk()
    await using receiver = await startReceiver()
    const { gateway, donna, bob } = desk
    const { id: subscriptionId } = await gateway.subscribe(donna, receiver.url, { trigger })
    const isMail = trigger === 'SENT_TO_ME'
    const mail = (subject: string) => gateway.call('POST', '/v1/messages', { to: '@donna', subject }, bob)
    const begin = async () => {
      if (!isMail) return desk.followed()
      return { id: (await gateway.call('POST', '/v1/followers', {}, donna)).body.followerId, taskId: '' }
    }
    const end = (taskId: string) => (isMail ? mail('Lunch?') : gateway.move(bob, taskId, 'completed'))
    const first = await begin()
    const polled = desk.poll(first.id, 50)
    await end(first.taskId)
    expect(await polled).toMatchObject({ status: 'completed' })
    const { turns } = (await gateway.call('GET', '/v1/turns', undefined, donna)).body
    expect(turns).toMatchObject([{ act: 'wake', route: 'mcp-tasks' }])
    const { body: held } = await gateway.call('GET', `/v1/wake-subscriptions/${subscriptionId}/held`, undefined, donna)
    expect(held.held[0]).toMatchObject({ reason: 'told_elsewhere' })

    // An event that nobody follows wakes as before.
    if (isMail) await mail('Dinner?')
    else {
      const other = await gateway.send('@bob', 'Another one', { key: donna.key })
      await gateway.move(bob, other.id, 'completed')
    }
    const wakes = await receiver.waitFor(1)
    expect(wakes[0]!.body.payload).toMatchObject(isMail ? { subject: 'Dinner?' } : { newState: 'Completed' })
    expect(receiver.wakes).toHaveLength(1)
  },
)

test('a subscription wakes for the end of what nobody polls for any more', async () => {
  await using desk = await openDesk()
  await using receiver = await startReceiver()
  const { gateway, donna, bob } = desk
  await gateway.subscribe(donna, receiver.url)
  const { taskId, id } = await desk.followed()
  const gone = new AbortController()
  const held = desk.poll(id, 50, gone.signal).catch(() => undefined)
  await until(
    () => listed(desk),
    ([one]) => one.isPolled,
  )
  gone.abort()
  await held
  await until(
    () => listed(desk),
    ([one]) => !one.isPolled,
  )
  await gateway.move(bob, taskId, 'completed')
  await receiver.waitFor(1)
})

test('the door for turns is asked: at a limit of its harness, and at a cap, an end waits', async () => {
  await using desk = await openDesk()
  const { gateway, donna, bob } = desk
  await gateway.call('PATCH', '/v1/gate', { agent: '@donna', settings: { turnsPerHour: 1 } })
  const [first, second] = [await desk.followed(), await desk.followed()]
  for (const { taskId } of [first, second]) await gateway.move(bob, taskId, 'completed')
  expect(await desk.poll(first.id, 50)).toMatchObject({ status: 'completed' })
  expect(await desk.poll(second.id, 1)).toMatchObject({ status: 'working', state: 'completed' })
  await gateway.call('PATCH', '/v1/gate', { agent: '@donna', settings: { turnsPerHour: 0 } })
  expect(await desk.poll(second.id, 1)).toMatchObject({ status: 'completed' })
  // An end that was delivered stays delivered.
  await gateway.call('PATCH', '/v1/gate', { agent: '@donna', settings: { turnsPerHour: 1 } })
  expect(await desk.poll(first.id)).toMatchObject({ status: 'completed' })

  const third = await desk.followed()
  await gateway.call('PATCH', '/v1/gate', { agent: '@donna', settings: { turnsPerHour: 0 } })
  const parked = { until: new Date(Date.now() + 3_600_000).toISOString(), reason: 'usage-limit' }
  expect((await gateway.call('PUT', '/v1/parked', parked, donna)).status).toBe(200)
  await gateway.move(bob, third.taskId, 'completed')
  expect(await desk.poll(third.id, 1)).toMatchObject({ status: 'working' })
  await gateway.call('DELETE', '/v1/parked', undefined, donna)
  expect(await desk.poll(third.id, 50)).toMatchObject({ status: 'completed' })
})

test('followers go with their agent, and a key that replaces another one takes them over', async () => {
  await using desk = await openDesk()
  const { gateway, donna } = desk
  const { id } = await desk.followed()
  const { body: made } = await gateway.call('POST', '/v1/agents/donna/keys', {})
  expect((await gateway.call('GET', `/v1/followers/${id}`, undefined, { key: made.apiKey })).status).toBe(200)
  expect(await listed(desk)).toHaveLength(1)
  await gateway.call('DELETE', '/v1/agents/donna')
  const { body } = await gateway.call('GET', '/v1/followers')
  expect(body.followers).toEqual([])
  expect((await gateway.call('GET', `/v1/followers/${id}`, undefined, donna)).status).toBe(401)
})

test('an agent has a thousand followers: of more, those that nobody polls are removed', async () => {
  await using desk = await openDesk()
  const { gateway, donna } = desk
  await gateway.call('PATCH', '/v1/projects/default', { limits: { requestsPerMinute: 0 } })
  const { id } = await desk.followed()
  const mail = () => gateway.call('POST', '/v1/followers', {}, donna)
  for (let made = 0; made < 1_000; made += 50) await Promise.all(Array.from({ length: 50 }, mail))
  expect((await gateway.call('GET', `/v1/followers/${id}`, undefined, donna)).status).toBe(404)
  const { body } = await gateway.call('GET', '/v1/followers?limit=500', undefined, donna)
  expect(body.nextPageToken).not.toBe('')
})

test('a follower is kept for a resume of days after its last poll, and swept then', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const begin = async () => (await gateway.call('POST', '/v1/followers', {}, donna)).body.followerId
  const open = async () => (await gateway.call('GET', '/v1/followers', undefined, donna)).body.followers.length
  const [polled] = [await begin(), await begin()]
  clock.advance(10 * dayMs)
  expect(await open()).toBe(2)
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' })
  const poll = await gateway.call('GET', `/v1/followers/${polled}?waitSeconds=50`, undefined, donna)
  expect(poll.body.status).toBe('completed')
  clock.advance(5 * dayMs)
  const openLater = () => {
    clock.advance(60_000)
    return open()
  }
  await until(openLater, (left) => left === 0)
  const { body } = await gateway.call('GET', `/v1/followers/${polled}`, undefined, donna)
  expect(body.status).toBe('completed')
})
