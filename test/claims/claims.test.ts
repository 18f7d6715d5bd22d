import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { SetClock } from '../support/set-clock.ts'

const ask = (gateway: TestGateway, agent: TestAgent | undefined, method: string, body?: object) =>
  gateway.call(method, '/v1/claims', body, agent ? { key: agent.key } : {})
const claim = (gateway: TestGateway, agent: TestAgent | undefined, ref: unknown) =>
  ask(gateway, agent, 'POST', { ref } as object)
const list = async (gateway: TestGateway, agent?: TestAgent, query = '') =>
  (await gateway.call('GET', `/v1/claims${query}`, undefined, agent)).body
const claimEvents = async (gateway: TestGateway) =>
  (await gateway.call('GET', '/v1/events')).body.events.filter(({ type }: { type: string }) =>
    type.startsWith('claim.'),
  )
const hours = 60 * 60 * 1000

async function startTeam(clock = new FakeClock()) {
  const gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  return { gateway, clock, donna, mike }
}

// S4-7
test('one owner at a time: the first gets it, the next learns who has it', async () => {
  const { gateway, clock, donna, mike } = await startTeam()
  await using _gateway = gateway
  const at = new Date(clock.now()).toISOString()
  const staleAt = new Date(clock.now() + 6 * hours).toISOString()
  const first = await claim(gateway, donna, 'issue-7')
  expect(first.status).toBe(201)
  const shown = { ref: 'issue-7', owner: '@donna', claimedAt: at, lastSeenAt: at, stale: false, staleAt }
  expect(first.body).toEqual({ ...shown, outcome: 'claimed' })
  const second = await claim(gateway, mike, 'issue-7')
  expect(second.body).toMatchObject({
    status: 409,
    code: 'claim-conflict',
    field: 'ref',
    current: { owner: '@donna', staleAt },
  })
  expect((await list(gateway, mike)).claims).toEqual([shown])
  clock.advance(1000)
  const again = await claim(gateway, donna, 'issue-7')
  expect([again.status, again.body.outcome, again.body.claimedAt]).toEqual([200, 'renewed', at])
  expect(await claimEvents(gateway)).toMatchObject([
    { type: 'claim.taken', actor: '@donna', data: { ref: 'issue-7', owner: '@donna' } },
  ])
})

// S4-2: ownership ambiguity
test('of 50 that claim at once exactly one gets it, and the others learn who', async () => {
  await using gateway = await startGateway()
  const racers = await Promise.all(Array.from({ length: 50 }, (_, i) => gateway.addAgent(`racer-${i}`)))
  const answers = await Promise.all(racers.map((racer) => claim(gateway, racer, 'src/gateway/app.ts')))
  const winner = answers.findIndex(({ status }) => status === 201)
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
  const owner = racers[winner]!.handle
  for (const { status, body } of answers) if (status === 409) expect(body.current.owner).toBe(owner)
  expect(await claimEvents(gateway)).toHaveLength(1)
})

// S4-7
test('after a release another agent can claim; only the owner and the operator release', async () => {
  const { gateway, donna, mike } = await startTeam()
  await using _gateway = gateway
  await claim(gateway, donna, 'issue-7')
  const release = (agent?: TestAgent) => ask(gateway, agent, 'DELETE', { ref: 'issue-7' })
  expect((await release(mike)).body).toMatchObject({ code: 'claim-conflict', current: { owner: '@donna' } })
  expect((await release(donna)).status).toBe(204)
  expect((await release(donna)).body).toMatchObject({ status: 404, code: 'claim-not-found' })
  expect((await claim(gateway, mike, 'issue-7')).status).toBe(201)
  expect((await release()).status).toBe(204)
  expect((await list(gateway)).claims).toEqual([])
  expect((await claimEvents(gateway)).map(({ type, actor }: { type: string; actor: string }) => [type, actor])).toEqual(
    [
      ['claim.taken', '@donna'],
      ['claim.released', '@donna'],
      ['claim.taken', '@mike'],
      ['claim.released', '@operator'],
    ],
  )
})

// S4-2: stale claim; S4-8
test('a claim whose owner is silent for six hours is stale, and is taken over with the reason in the log', async () => {
  const { gateway, clock, donna, mike } = await startTeam()
  await using _gateway = gateway
  const since = new Date(clock.now()).toISOString()
  await claim(gateway, donna, 'issue-7')
  clock.advance(6 * hours - 1)
  expect((await claim(gateway, mike, 'issue-7')).status).toBe(409)
  clock.advance(1)
  const reason = `@donna has been silent since ${since}`
  expect((await list(gateway, mike)).claims).toMatchObject([
    { owner: '@donna', stale: true, lastSeenAt: since, reason },
  ])
  const taken = await claim(gateway, mike, 'issue-7')
  expect(taken.status).toBe(201)
  expect(taken.body).toMatchObject({
    owner: '@mike',
    outcome: 'taken_over',
    previousOwner: '@donna',
    reason,
    stale: false,
  })
  expect((await claim(gateway, donna, 'issue-7')).body.current.owner).toBe('@mike')
  const [, event] = await claimEvents(gateway)
  expect(event).toMatchObject({
    type: 'claim.taken_over',
    actor: '@mike',
    data: { ref: 'issue-7', owner: '@mike', previousOwner: '@donna', reason },
  })
  const heard = (await gateway.call('GET', '/v1/events', undefined, donna)).body.events
  expect(heard.at(-1).type).toBe('claim.taken_over')
})

// S4-2: stale claim
test('of 20 that find it stale exactly one takes it over', async () => {
  const { gateway, clock, donna } = await startTeam()
  await using _gateway = gateway
  const racers = await Promise.all(Array.from({ length: 20 }, (_, i) => gateway.addAgent(`racer-${i}`)))
  await claim(gateway, donna, 'issue-7')
  clock.advance(6 * hours)
  const answers = await Promise.all(racers.map((racer) => claim(gateway, racer, 'issue-7')))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
  expect(await claimEvents(gateway)).toHaveLength(2)
})

// S4-8
test('any agent may release a stale claim, with the reason in the log', async () => {
  const { gateway, clock, donna, mike } = await startTeam()
  await using _gateway = gateway
  await claim(gateway, donna, 'issue-7')
  clock.advance(36 * hours)
  expect((await ask(gateway, mike, 'DELETE', { ref: 'issue-7' })).status).toBe(204)
  expect((await claimEvents(gateway)).at(-1)).toMatchObject({
    type: 'claim.released',
    actor: '@mike',
    data: { previousOwner: '@donna', reason: expect.stringContaining('silent since') },
  })
})

// S4-8
test('an owner whose session gives signs of life keeps its claim, and claiming again renews it', async () => {
  const { gateway, clock, donna, mike } = await startTeam()
  await using _gateway = gateway
  await claim(gateway, donna, 'issue-7')
  clock.advance(5 * hours)
  const session = await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, donna)
  expect(session.status).toBe(201)
  const seen = new Date(clock.now()).toISOString()
  clock.advance(2 * hours)
  expect((await list(gateway)).claims).toMatchObject([{ stale: false, lastSeenAt: seen }])
  expect((await claim(gateway, mike, 'issue-7')).status).toBe(409)
  await claim(gateway, donna, 'issue-7')
  clock.advance(5 * hours)
  expect((await claim(gateway, mike, 'issue-7')).status).toBe(409)
  clock.advance(hours)
  expect((await claim(gateway, mike, 'issue-7')).status).toBe(201)
})

test('the claims of a removed agent are free at once', async () => {
  const { gateway, donna, mike } = await startTeam()
  await using _gateway = gateway
  await claim(gateway, donna, 'issue-7')
  await gateway.call('DELETE', '/v1/agents/donna')
  expect((await list(gateway)).claims).toMatchObject([
    { owner: '@removed', stale: true, reason: 'its owner was removed' },
  ])
  expect((await claim(gateway, mike, 'issue-7')).body).toMatchObject({
    outcome: 'taken_over',
    previousOwner: '@removed',
  })
})

test('claims are listed by ref, by owner, a page at a time, and never another project’s', async () => {
  const { gateway, donna, mike } = await startTeam()
  await using _gateway = gateway
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const stranger = await gateway.addAgent('stranger', { project: 'web' })
  for (const ref of ['c', 'a', 'b']) await claim(gateway, donna, ref)
  await claim(gateway, mike, 'd')
  await claim(gateway, undefined, 'e')
  expect((await claim(gateway, stranger, 'a')).status).toBe(201)
  const refs = async (query: string, agent?: TestAgent) =>
    (await list(gateway, agent, query)).claims.map(({ ref }: { ref: string }) => ref)
  expect(await refs('')).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(await refs('?owner=@donna', mike)).toEqual(['a', 'b', 'c'])
  expect(await refs('?owner=operator')).toEqual(['e'])
  expect(await refs('?ref=d')).toEqual(['d'])
  expect(await refs('?ref=d&owner=donna')).toEqual([])
  expect(await refs('?ref=nothing')).toEqual([])
  expect(await refs('', stranger)).toEqual(['a'])
  const first = await list(gateway, donna, '?limit=3')
  expect([first.claims.length, first.nextPageToken]).toEqual([3, 'c'])
  const next = await list(gateway, donna, '?limit=3&pageToken=c')
  expect([next.claims.length, next.nextPageToken]).toEqual([2, ''])
  expect((await list(gateway, donna, '?owner=nobody')).field).toBe('owner')
})

test('a ref is one line of text, and unknown fields are refused by name', async () => {
  const { gateway, donna } = await startTeam()
  await using _gateway = gateway
  for (const ref of [undefined, '', '  ', 'two\nlines', 'x'.repeat(501), 7]) {
    expect((await claim(gateway, donna, ref)).body, String(ref)).toMatchObject({ status: 400, field: 'ref' })
  }
  expect((await ask(gateway, donna, 'POST', { ref: 'a', to: 'b' })).body).toMatchObject({ status: 400, field: 'to' })
  expect((await claim(gateway, donna, ' a ')).body.ref).toBe('a')
  expect((await ask(gateway, donna, 'PUT', { ref: 'a' })).status).toBe(405)
})

// S4-7
test('a claim outlives a restart', async () => {
  const { gateway, donna, mike } = await startTeam()
  await claim(gateway, donna, 'issue-7')
  await gateway.stop()
  await using _gateway = gateway
  await using again = await startGateway({ dataDir: gateway.dataDir, overrides: { clock: new FakeClock() } })
  expect((await claim(again, mike, 'issue-7')).status).toBe(409)
})

test('claims count as stored bytes of the agent that makes them; renewing a claim counts nothing', async () => {
  const { gateway, donna, mike } = await startTeam()
  await using _gateway = gateway
  await gateway.call('PATCH', '/v1/projects/default', { limits: { bytesStored: 1_000 } })
  let answer = await claim(gateway, donna, 'issue-0')
  for (let n = 1; n < 10 && answer.status === 201; n++) answer = await claim(gateway, donna, `issue-${n}`)
  expect(answer.body).toMatchObject({ code: 'quota-exceeded', limitName: 'bytesStored' })
  expect((await claim(gateway, donna, 'issue-0')).body.outcome).toBe('renewed')
  expect((await claim(gateway, mike, 'issue-10')).status).toBe(201)
})

// S4-8
test('hours that the machine slept are no silence of the owner, who has a minute to renew', async () => {
  const clock = new SetClock()
  await using gateway = await startGateway({ overrides: { clock, steady: () => clock.steady.now() } })
  const [donna, mike] = [await gateway.addAgent('donna'), await gateway.addAgent('mike')]
  await claim(gateway, donna, 'issue-7')
  clock.steady.advance(2 * 60_000)
  clock.set(7 * hours)
  expect((await claim(gateway, mike, 'issue-7')).status).toBe(409)
  expect((await list(gateway, mike)).claims).toMatchObject([{ ref: 'issue-7', stale: false }])
  clock.steady.advance(80_000)
  expect((await claim(gateway, mike, 'issue-7')).body).toMatchObject({ outcome: 'taken_over' })
})
