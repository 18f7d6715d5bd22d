import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'

const claim = (gateway: TestGateway, agent: TestAgent, ref: string) =>
  gateway.call('POST', '/v1/claims', { ref }, { key: agent.key })
const handOff = (gateway: TestGateway, agent: TestAgent | undefined, ref: string, to: string) =>
  gateway.call('POST', '/v1/claims/handoff', { ref, to }, agent ? { key: agent.key } : {})
const refsOf = async (gateway: TestGateway, owner: string): Promise<string[]> =>
  (await gateway.call('GET', `/v1/claims?owner=${owner}`)).body.claims.map(({ ref }: { ref: string }) => ref)

/** A project where each agent may own four refs. */
async function startTeam() {
  const gateway = await startGateway()
  await gateway.call('PATCH', '/v1/projects/default', { limits: { owned: 4 } })
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  return { gateway, mallory, bob, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

test('an agent owns a number of refs; one more is refused by the name of the limit until it releases one', async () => {
  await using team = await startTeam()
  const { gateway, bob } = team
  for (const ref of ['a', 'b', 'c', 'd']) expect((await claim(gateway, bob, ref)).status).toBe(201)
  const refused = await claim(gateway, bob, 'e')
  expect(refused.status).toBe(429)
  expect(refused.body).toMatchObject({
    code: 'limit-exceeded',
    limit: 'owned',
    max: 4,
    detail: expect.stringContaining('DELETE /v1/claims'),
  })
  // A claim that it has is renewed.
  expect((await claim(gateway, bob, 'a')).status).toBe(200)
  const task = await gateway.send('bob', 'one more')
  expect((await claim(gateway, bob, task.id)).body).toMatchObject({ code: 'limit-exceeded', limit: 'owned' })
  await gateway.call('DELETE', '/v1/claims', { ref: 'a' }, bob)
  expect((await claim(gateway, bob, 'e')).status).toBe(201)
})

test('of many claims at once an agent gets as many as it may own', async () => {
  await using team = await startTeam()
  const { gateway, bob } = team
  const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => claim(gateway, bob, `ref-${n}`)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(4)
  expect(await refsOf(gateway, '@bob')).toHaveLength(4)
})

test('hand-offs leave their receiver half of its claims, and a refused one changes nothing', async () => {
  await using team = await startTeam()
  const { gateway, mallory, bob } = team
  for (const ref of ['x', 'y', 'z']) await claim(gateway, mallory, ref)
  for (const ref of ['x', 'y']) expect((await handOff(gateway, mallory, ref, '@bob')).status).toBe(200)
  const refused = await handOff(gateway, mallory, 'z', '@bob')
  expect(refused.status).toBe(429)
  expect(refused.body).toMatchObject({
    code: 'limit-exceeded',
    limit: 'owned',
    max: 4,
    detail: expect.stringContaining('@bob owns 2 refs or more'),
  })
  expect([await refsOf(gateway, '@mallory'), await refsOf(gateway, '@bob')]).toEqual([['z'], ['x', 'y']])
  const { messages } = (await gateway.call('GET', '/v1/inbox', undefined, bob)).body
  expect(messages.map(({ ref }: { ref: string }) => ref).sort()).toEqual(['x', 'y'])
  // A task has an owner without a claim. Handed over, it counts like any other ref.
  const task = await gateway.send('mallory', 'unwanted')
  expect((await handOff(gateway, mallory, task.id, '@bob')).body).toMatchObject({ limit: 'owned' })
  // Bob claims what it wants, and the operator hands over what it wants.
  expect((await claim(gateway, bob, 'own')).status).toBe(201)
  expect((await handOff(gateway, undefined, 'z', '@bob')).status).toBe(200)
})

test('claims on finished tasks end where they would use up the number', async () => {
  await using team = await startTeam()
  const { gateway, mallory, bob } = team
  const ids: string[] = []
  for (let count = 0; count < 3; count += 1) ids.push((await gateway.send('mallory', `job ${count}`)).id)
  for (const id of ids.slice(0, 2)) {
    expect((await handOff(gateway, mallory, id, '@bob')).status).toBe(200)
    expect((await gateway.move(bob, id, 'completed')).status).toBe(200)
  }
  expect((await handOff(gateway, mallory, ids[2]!, '@bob')).status).toBe(200)
  expect(await refsOf(gateway, '@bob')).toEqual([ids[2]])
  const { events } = (await gateway.call('GET', '/v1/events', undefined, bob)).body
  const released = events.filter(({ type }: { type: string }) => type === 'claim.released')
  expect(released.map(({ data }: { data: object }) => data)).toMatchObject(
    ids
      .slice(0, 2)
      .sort()
      .map((ref) => ({ ref, previousOwner: '@bob', reason: 'its task is finished' })),
  )
})
