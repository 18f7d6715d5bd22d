import { afterEach, expect, test, vi } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore, onPostgres } from '../support/store.ts'
import { failBesideNextWrite } from './fail-beside.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

type World = Awaited<ReturnType<typeof start>>

/** Two agents that do the same: what mallory does is run again, what bob does is not. */
async function start(env: Record<string, string> = {}) {
  const gateway = await startGateway({ env, overrides: { clock: new FakeClock() } })
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  await gateway.addAgent('donna')
  return { gateway, mallory, bob, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

/** Has the next write run again after all of its work was done. The answer says whether it did. */
function runNextWriteAgain({ gateway }: World): Promise<() => Promise<boolean>> {
  return onPostgres ? collideNextWrite(gateway) : Promise.resolve(failBesideNextWrite())
}

/** Makes the next write a serialization failure when it appends its events. A sequence counts, which no rollback takes back. */
async function collideNextWrite({ dataDir }: TestGateway): Promise<() => Promise<boolean>> {
  const body = `begin if nextval(''tries'') = 1 then raise exception using errcode = ''40001''; end if; return null; end`
  await besideStore(dataDir, 'create sequence tries')
  await besideStore(dataDir, `create function collide() returns trigger language plpgsql as '${body}'`)
  await besideStore(dataDir, 'create trigger collide before insert on event execute function collide()')
  return async () => {
    const [row] = await besideStore(dataDir, 'select last_value from tries')
    // Events were appended after it: by the same write, if no other was made.
    return Number(row!.last_value) > 1
  }
}

/** The bytes that are counted for each agent, once the gateway has written all of them. */
async function bytesStored({ gateway }: World): Promise<Record<string, number>> {
  await gateway.stop()
  const rows = await besideStore(
    gateway.dataDir,
    'select agent.handle, usage.bytes from usage join agent on agent.id = usage.agent_id',
  )
  return Object.fromEntries(rows.map(({ handle, bytes }) => [handle, Number(bytes)]))
}

interface Act {
  readonly what: string
  readonly prepare?: (gateway: TestGateway, agent: TestAgent) => Promise<string>
  readonly run: (gateway: TestGateway, agent: TestAgent, taskId: string) => Promise<{ status: number }>
}

const mail = { to: '@donna', subject: 'Hello', body: 'x'.repeat(5_000) }
const toOwnTask = async (gateway: TestGateway, agent: TestAgent) => (await gateway.send(agent.handle, 'work')).id
const parts = [{ text: 'x'.repeat(5_000) }]

const acts: Act[] = [
  {
    what: 'an A2A message',
    run: async (gateway, { key }) => gateway.send('donna', 'x'.repeat(5_000), { key }).then(() => ({ status: 200 })),
  },
  { what: 'mail', run: (gateway, agent) => gateway.call('POST', '/v1/messages', mail, agent) },
  {
    what: 'an artifact',
    prepare: toOwnTask,
    run: (gateway, agent, id) =>
      gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact: { artifactId: 'a', parts } }, agent),
  },
  {
    what: 'a move with a message',
    prepare: toOwnTask,
    run: (gateway, agent, id) => gateway.move(agent, id, 'completed', { message: 'x'.repeat(5_000) }),
  },
  {
    what: 'a claim',
    run: (gateway, agent) => gateway.call('POST', '/v1/claims', { ref: `src/${agent.handle}` }, agent),
  },
]

test.each(acts)('the bytes of $what that is run again count once', async ({ prepare, run }) => {
  await using world = await start()
  const { gateway, mallory, bob } = world
  const ids: string[] = []
  for (const agent of [mallory, bob]) ids.push((await prepare?.(gateway, agent)) ?? '')
  const hasRunAgain = await runNextWriteAgain(world)
  expect((await run(gateway, mallory, ids[0]!)).status).toBeLessThan(300)
  expect(await hasRunAgain()).toBe(true)
  expect((await run(gateway, bob, ids[1]!)).status).toBeLessThan(300)
  const bytes = await bytesStored(world)
  expect(bytes['@bob']).toBeGreaterThan(0)
  // Their names differ in length, and may stand in what is stored.
  expect(Math.abs(bytes['@mallory']! - bytes['@bob']!)).toBeLessThan(20)
})

test.each(acts.slice(0, 2))('$what that is run again uses the rate of its sender once', async ({ run }) => {
  await using world = await start({ ROUSE_MESSAGES_PER_MINUTE: '2' })
  const { gateway, mallory } = world
  const send = async () => (await run(gateway, mallory, '').catch(() => ({ status: 429 }))).status
  const hasRunAgain = await runNextWriteAgain(world)
  expect(await send()).toBeLessThan(300)
  expect(await hasRunAgain()).toBe(true)
  expect([await send(), await send()].map((status) => status < 300)).toEqual([true, false])
})

test('an A2A message that is run again counts once for the storm breaker of its recipient', async () => {
  await using world = await start({ ROUSE_STORM_MESSAGES: '2' })
  const { gateway, mallory } = world
  const hasRunAgain = await runNextWriteAgain(world)
  await gateway.send('donna', 'x', { key: mallory.key })
  expect(await hasRunAgain()).toBe(true)
  await gateway.send('donna', 'x', { key: mallory.key })
  await expect(gateway.send('donna', 'x', { key: mallory.key })).rejects.toThrow('recipient-storm')
})
