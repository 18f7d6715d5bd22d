import { expect, test } from 'vitest'
import { silenceMs } from '../../src/claims/claim.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'

const claim = (gateway: TestGateway, agent: TestAgent | undefined, ref: string) =>
  gateway.call('POST', '/v1/claims', { ref }, agent ? { key: agent.key } : {})
const release = (gateway: TestGateway, agent: TestAgent | undefined, ref: string) =>
  gateway.call('DELETE', '/v1/claims', { ref }, agent ? { key: agent.key } : {})
const handOff = (gateway: TestGateway, agent: TestAgent | undefined, ref: string, to: string) =>
  gateway.call('POST', '/v1/claims/handoff', { ref, to, message: 'half done' }, agent ? { key: agent.key } : {})
const read = async (gateway: TestGateway, agent: TestAgent, id: string) =>
  (await gateway.call('GET', `/v1/tasks/${id}`, undefined, agent)).body
const listed = async (gateway: TestGateway, agent: TestAgent, role: string) =>
  (await gateway.call('GET', `/v1/tasks?role=${role}`, undefined, agent)).body.tasks.map(({ id }: { id: string }) => id)
const rpc = async (gateway: TestGateway, agent: TestAgent, to: string, method: string, params: object) =>
  (
    await gateway.call(
      'POST',
      `/agents/${to}`,
      { jsonrpc: '2.0', id: 1, method, params },
      { key: agent.key, headers: { 'A2A-Version': '1.0' } },
    )
  ).body

async function startTeam(clock?: FakeClock) {
  const gateway = await startGateway(clock ? { overrides: { clock } } : {})
  const boss = await gateway.addAgent('boss')
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const lola = await gateway.addAgent('lola')
  const { id } = await gateway.send('donna', 'Fix the roof', { key: boss.key })
  return { gateway, boss, donna, mike, lola, id }
}

// D18, S4-7
test('handing over a task moves the assignee: the next one works it, the old one only reads it', async () => {
  const { gateway, boss, donna, mike, lola, id } = await startTeam()
  await using _gateway = gateway
  await gateway.move(donna, id, 'working')
  const before = await read(gateway, donna, id)
  const handed = await handOff(gateway, donna, id, '@mike')
  expect([handed.status, handed.body.owner]).toEqual([200, '@mike'])
  const after = await read(gateway, boss, id)
  expect(after).toMatchObject({ agent: '@donna', assignee: '@mike', state: 'working', version: before.version + 1 })
  expect((await read(gateway, donna, id)).assignee).toBe('@mike')
  expect((await gateway.move(donna, id, 'completed')).body).toMatchObject({
    status: 403,
    code: 'forbidden',
    field: 'to',
  })
  expect((await read(gateway, lola, id)).code).toBe('task-not-found')
  expect([await listed(gateway, donna, 'assignee'), await listed(gateway, mike, 'assignee')]).toEqual([[], [id]])
  const { messages } = (await gateway.call('GET', '/v1/inbox', undefined, mike)).body
  expect(messages).toMatchObject([{ messageId: handed.body.messageId, type: 'handoff', ref: id, body: 'half done' }])
  const added = await gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact: { parts: [{ text: 'x' }] } }, donna)
  expect(added.status).toBe(403)
  expect((await gateway.move(mike, id, 'completed')).status).toBe(200)
  const { events } = (await gateway.call('GET', '/v1/events?limit=200')).body
  const at = events.findIndex(({ type }: { type: string }) => type === 'claim.handed_off')
  const [, mail, moved] = events.slice(at, at + 3)
  expect([mail.type, mail.logId]).toEqual(['message.sent', events[at].logId + 1])
  expect(moved).toMatchObject({ type: 'task.state_changed', actor: '@donna', logId: events[at].logId + 2, taskId: id })
  expect(moved.data).toMatchObject({
    previousState: 'working',
    newState: 'working',
    assignee: '@mike',
    previousAssignee: '@donna',
    version: before.version + 1,
    message: { messageId: handed.body.messageId },
  })
  expect(moved.data.routing).toBeUndefined()
})

// D18: its card is the first agent's
test('A2A clients reach a task that was handed over where they sent it, and nowhere else', async () => {
  const { gateway, boss, donna, mike, id } = await startTeam()
  await using _gateway = gateway
  await handOff(gateway, donna, id, '@mike')
  expect((await rpc(gateway, boss, 'donna', 'GetTask', { id })).result).toMatchObject({ id })
  expect((await rpc(gateway, boss, 'mike', 'GetTask', { id })).error).toMatchObject({ code: -32001 })
  const list = async (who: TestAgent, at: string) =>
    (await rpc(gateway, who, at, 'ListTasks', {})).result.tasks.map((task: { id: string }) => task.id)
  expect([await list(boss, 'donna'), await list(donna, 'donna'), await list(boss, 'mike')]).toEqual([[id], [id], []])
  await gateway.move(mike, id, 'input-required', { message: 'which tiles?' })
  await gateway.send('donna', 'red ones', { key: boss.key, message: { taskId: id } })
  expect(await read(gateway, mike, id)).toMatchObject({ state: 'submitted', assignee: '@mike' })
  const subjects = async (who: TestAgent) =>
    (await gateway.call('GET', '/v1/inbox', undefined, who)).body.messages.map(
      ({ subject }: { subject: string }) => subject,
    )
  expect(await subjects(mike)).toContain('red ones')
  expect(await subjects(donna)).not.toContain('red ones')
  expect((await rpc(gateway, boss, 'donna', 'CancelTask', { id })).result.status.state).toBe('TASK_STATE_CANCELED')
})

// D18, D9, D17
test('the next assignee is woken once for the task and its mail, the originator for the task, the old one not at all', async () => {
  const { gateway, boss, donna, mike } = await startTeam()
  await using _gateway = gateway
  await using atBoss = await startReceiver()
  await using atDonna = await startReceiver()
  await using atMike = await startReceiver()
  for (const trigger of ['SENT_TO_ME', 'TASK_STATE_CHANGED']) {
    await gateway.subscribe(boss, atBoss.url, { trigger })
    await gateway.subscribe(mike, atMike.url, { trigger })
  }
  const { id } = await gateway.send('donna', 'Paint the door', { key: boss.key })
  await gateway.subscribe(donna, atDonna.url)
  const { body } = await handOff(gateway, donna, id, '@mike')
  const [toMike] = await atMike.waitFor(1)
  expect(toMike!.body).toMatchObject({ eventType: 'wake/sent_to_me', payload: { messageId: body.messageId } })
  const [toBoss] = await atBoss.waitFor(1)
  expect(toBoss!.body).toMatchObject({
    eventType: 'wake/task_state_changed',
    payload: { taskId: id, assignee: '@mike' },
  })
  await gateway.move(mike, id, 'completed')
  await atBoss.waitFor(2)
  const ofTasks = atDonna.wakes.filter((wake) => wake.body.eventType === 'wake/task_state_changed')
  expect([atMike.wakes.length, ofTasks.length]).toEqual([1, 0])
})

// D18, S4-2: ownership ambiguity
test('a task is claimed by its parties only, and is its assignee’s without a claim', async () => {
  const { gateway, boss, donna, mike, id } = await startTeam()
  await using _gateway = gateway
  expect((await claim(gateway, mike, id)).body).toMatchObject({ status: 404, code: 'task-not-found', field: 'ref' })
  expect((await handOff(gateway, mike, id, '@mike')).body.code).toBe('task-not-found')
  expect((await release(gateway, mike, id)).body.code).toBe('task-not-found')
  expect((await claim(gateway, boss, id)).body).toMatchObject({ code: 'claim-conflict', current: { owner: '@donna' } })
  expect((await claim(gateway, donna, id)).status).toBe(201)
  expect((await claim(gateway, donna, id)).body.outcome).toBe('renewed')
  expect((await handOff(gateway, boss, id, '@boss')).body.code).toBe('claim-conflict')
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const zoe = await gateway.addAgent('zoe', { project: 'web' })
  expect((await claim(gateway, zoe, id)).status).toBe(404)
})

// D18, S4-8
test('a party takes over the task of an assignee that is silent for six hours, and becomes its assignee', async () => {
  const clock = new FakeClock()
  const { gateway, boss, donna, mike, id } = await startTeam(clock)
  await using _gateway = gateway
  clock.advance(silenceMs - 1)
  await gateway.move(donna, id, 'working')
  clock.advance(silenceMs - 1)
  expect((await claim(gateway, boss, id)).status).toBe(409)
  clock.advance(1)
  expect((await claim(gateway, mike, id)).status).toBe(404)
  expect((await claim(gateway, boss, id)).body).toMatchObject({ outcome: 'taken_over', previousOwner: '@donna' })
  expect(await read(gateway, boss, id)).toMatchObject({ assignee: '@boss', state: 'working', version: 3 })
  expect((await gateway.move(donna, id, 'completed')).status).toBe(403)
  expect((await gateway.move(boss, id, 'completed')).status).toBe(200)
})

// D18
test('whoever releases a task that was handed over gives it back to the agent that it was sent to', async () => {
  const { gateway, donna, mike, id } = await startTeam()
  await using _gateway = gateway
  await handOff(gateway, donna, id, '@mike')
  expect((await release(gateway, mike, id)).status).toBe(204)
  expect(await read(gateway, donna, id)).toMatchObject({ assignee: '@donna', version: 3 })
  expect((await gateway.move(mike, id, 'working')).status).toBe(403)
  expect((await gateway.move(donna, id, 'completed')).status).toBe(200)
  expect((await handOff(gateway, donna, id, '@mike')).body).toMatchObject({ status: 409, code: 'task-finished' })
})

// D18: one transaction
test('a hand-over whose mail is refused leaves the task where it is', async () => {
  const { gateway, donna, mike, id } = await startTeam()
  await using _gateway = gateway
  await gateway.call('PATCH', '/v1/agents/mike', { contactPolicy: 'listed' }, mike)
  expect((await handOff(gateway, donna, id, '@mike')).status).toBe(403)
  expect(await read(gateway, donna, id)).toMatchObject({ assignee: '@donna', version: 1 })
})

// D18
test('of many that hand over, move and claim one task at once, each change is one version, and one is the assignee', async () => {
  const { gateway, boss, donna, mike, lola, id } = await startTeam()
  await using _gateway = gateway
  const answers = await Promise.all([
    ...Array.from({ length: 16 }, (_, n) => handOff(gateway, donna, id, n % 2 ? '@mike' : '@lola')),
    ...Array.from({ length: 8 }, () => gateway.move(donna, id, 'working')),
    ...Array.from({ length: 8 }, () => claim(gateway, boss, id)),
  ])
  const statuses = answers.map(({ status }) => status)
  expect(statuses.slice(0, 16).filter((status) => status === 200)).toHaveLength(1)
  expect(statuses.slice(24)).toEqual(Array(8).fill(409))
  const moves = statuses.slice(16, 24).filter((status) => status === 200).length
  const task = await read(gateway, boss, id)
  expect(task.version).toBe(2 + moves)
  const inboxes = await Promise.all(
    [mike, lola].map(async (agent) => (await gateway.call('GET', '/v1/inbox', undefined, agent)).body.messages.length),
  )
  expect(inboxes).toEqual(task.assignee === '@mike' ? [1, 0] : [0, 1])
  const { claims } = (await gateway.call('GET', `/v1/claims?ref=${id}`)).body
  expect(claims).toMatchObject([{ ref: id, owner: task.assignee }])
})

// D18
test('a task that was handed over is rejected with the agent that took it, and its originator can read that', async () => {
  const { gateway, boss, donna, id } = await startTeam()
  await using _gateway = gateway
  await handOff(gateway, donna, id, '@mike')
  await gateway.call('DELETE', '/v1/agents/mike')
  expect(await read(gateway, boss, id)).toMatchObject({ agent: '@donna', assignee: '@removed', state: 'rejected' })
})
