import { expect, test } from 'vitest'
import { openEvents } from '../a2a/event-source.ts'
import { wireTo } from '../a2a/wire.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'

const eventsOf = async (gateway: TestGateway, key: string) =>
  (await gateway.call('GET', '/v1/events?limit=200', undefined, { key })).body.events.filter(
    ({ type }: { type: string }) => type.startsWith('task.'),
  )
const read = async (gateway: TestGateway, agent: TestAgent, path: string) =>
  (await gateway.call('GET', path, undefined, agent)).body

/** carol works in `default`; zoe of `web` gives her work; donna has zoe's handle's namesake beside her. */
async function start() {
  const gateway = await startGateway()
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const carol = await gateway.addAgent('carol', { access: 'public' })
  const namesake = await gateway.addAgent('zoe')
  const zoe = await gateway.addAgent('zoe', { project: 'web' })
  return { gateway, carol, namesake, zoe }
}

// D19
test('an originator in another project is woken by its task, and each party is named as its project sees it', async () => {
  const { gateway, carol, zoe } = await start()
  await using _gateway = gateway
  await using atZoe = await startReceiver()
  await using atCarol = await startReceiver()
  await gateway.subscribe(zoe, atZoe.url)
  await gateway.subscribe(carol, atCarol.url)
  const { id } = await gateway.send('carol', 'hello', { key: zoe.key })
  const [toCarol] = await atCarol.waitFor(1)
  expect(toCarol!.body.payload).toMatchObject({ taskId: id, originator: 'web:@zoe', assignee: '@carol' })
  await gateway.move(carol, id, 'completed')
  const [toZoe] = await atZoe.waitFor(1)
  expect(toZoe!.body).toMatchObject({
    agentIdentity: '@zoe',
    payload: { taskId: id, newState: 'Completed', originator: '@zoe', assignee: 'default:@carol' },
  })
  expect([atZoe.wakes.length, atCarol.wakes.length]).toEqual([1, 1])
})

// D19
test('each log has every event of the task once, with a logId of its own', async () => {
  const { gateway, carol, namesake, zoe } = await start()
  await using _gateway = gateway
  const { id } = await gateway.send('carol', 'hello', { key: zoe.key })
  await gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact: { parts: [{ text: 'a' }] } }, carol)
  await gateway.move(carol, id, 'completed', { artifacts: [{ parts: [{ text: 'b' }] }] })
  const types = ['task.state_changed', 'task.artifact_added', 'task.artifact_added', 'task.state_changed']
  const here = await eventsOf(gateway, carol.key)
  const there = await eventsOf(gateway, zoe.key)
  for (const events of [here, there]) {
    expect(events.map(({ type }: { type: string }) => type)).toEqual(types)
    expect(new Set(events.map(({ taskId }: { taskId: string }) => taskId))).toEqual(new Set([id]))
  }
  expect(here.map(({ actor }: { actor: string }) => actor)).toEqual(['web:@zoe', '@carol', '@carol', '@carol'])
  expect(there.map(({ actor }: { actor: string }) => actor)).toEqual([
    '@zoe',
    'default:@carol',
    'default:@carol',
    'default:@carol',
  ])
  expect([here[0].data.message.from, there[0].data.message.from]).toEqual(['web:@zoe', '@zoe'])
  expect(await eventsOf(gateway, namesake.key)).toEqual([])
})

// D19: the same in task, mail, wake and event
test('task and mail name the other project’s agent like wake and event', async () => {
  const { gateway, carol, zoe } = await start()
  await using _gateway = gateway
  const { id } = await gateway.send('carol', 'hello', { key: zoe.key })
  const names = async (agent: TestAgent) => {
    const { originator, agent: sentTo, assignee } = await read(gateway, agent, `/v1/tasks/${id}`)
    return [originator, sentTo, assignee]
  }
  expect(await names(carol)).toEqual(['web:@zoe', '@carol', '@carol'])
  expect(await names(zoe)).toEqual(['@zoe', 'default:@carol', 'default:@carol'])
  const [listed] = (await read(gateway, zoe, '/v1/tasks?role=originator')).tasks
  expect(listed).toMatchObject({ id, assignee: 'default:@carol' })
  expect((await read(gateway, carol, '/v1/inbox')).messages).toMatchObject([{ from: 'web:@zoe' }])
  const stale = { to: 'working', expectedVersion: 7 }
  const { body } = await gateway.call('POST', `/v1/tasks/${id}/transitions`, stale, carol)
  expect(body.current).toMatchObject({ originator: 'web:@zoe' })
})

// D19: filters compare what the wake says
test('a filter by the sender tells agents of two projects with one handle apart', async () => {
  const { gateway, carol, namesake, zoe } = await start()
  await using _gateway = gateway
  await using receiver = await startReceiver()
  await gateway.subscribe(carol, receiver.url, { filters: { senderFilter: ['@zoe'] } })
  await gateway.send('carol', 'from web', { key: zoe.key })
  const { id } = await gateway.send('carol', 'from here', { key: namesake.key })
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body.payload).toMatchObject({ taskId: id, originator: '@zoe' })
  expect(receiver.wakes).toHaveLength(1)
})

// D19: a stream follows the task's own log only
test('a stream and a push of the task have each event once', async () => {
  const { gateway, carol, zoe } = await start()
  await using _gateway = gateway
  await using receiver = await startReceiver()
  const configuration = { taskPushNotificationConfig: { url: receiver.url } }
  const { id } = await gateway.send('carol', 'hello', { key: zoe.key, configuration })
  const wire = wireTo(gateway, carol, zoe.key)
  await using stream = await openEvents(`${gateway.url}/agents/carol/tasks/${id}:subscribe`, {
    headers: { authorization: `Bearer ${zoe.key}`, 'A2A-Version': '1.0' },
  })
  await stream.next()
  await gateway.move(carol, id, 'working')
  await gateway.move(carol, id, 'completed')
  const states = [await stream.next(), await stream.next()].map((event) => JSON.stringify(event))
  expect(states[0]).toContain('WORKING')
  expect(states[1]).toContain('COMPLETED')
  expect((await receiver.waitFor(3)).length).toBe(3)
  expect((await wire.rpc('GetTask', { id })).body.result.status.state).toBe('TASK_STATE_COMPLETED')
})

// D19: two logs are locked in one order
test('tasks between two projects in both directions at once lose no event and block nobody', async () => {
  const { gateway, carol, zoe } = await start()
  await using _gateway = gateway
  await gateway.call('PATCH', '/v1/agents/zoe', { access: 'public' }, zoe)
  const sends = Array.from({ length: 15 }, (_, n) => gateway.send('carol', `${n}`, { key: zoe.key }))
  const back = Array.from({ length: 15 }, (_, n) =>
    gateway.call(
      'POST',
      '/projects/web/agents/zoe/message:send',
      {
        message: { messageId: `b${n}`, role: 'ROLE_USER', parts: [{ text: 'x' }] },
        configuration: { returnImmediately: true },
      },
      { key: carol.key, headers: { 'A2A-Version': '1.0' } },
    ),
  )
  await Promise.all(sends)
  for (const { status } of await Promise.all(back)) expect(status).toBe(200)
  expect((await eventsOf(gateway, carol.key)).length).toBe(30)
  expect((await eventsOf(gateway, zoe.key)).length).toBe(30)
})
