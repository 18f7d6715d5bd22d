import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'

const claim = (gateway: TestGateway, agent: TestAgent | undefined, ref: string) =>
  gateway.call('POST', '/v1/claims', { ref }, agent ? { key: agent.key } : {})
const handOff = (gateway: TestGateway, agent: TestAgent | undefined, body: object) =>
  gateway.call('POST', '/v1/claims/handoff', body, agent ? { key: agent.key } : {})
const ownerOf = async (gateway: TestGateway, ref: string) =>
  (await gateway.call('GET', `/v1/claims?ref=${ref}`)).body.claims[0]?.owner
const inboxOf = async (gateway: TestGateway, agent: TestAgent) =>
  (await gateway.call('GET', '/v1/inbox', undefined, agent)).body.messages

async function startTeam() {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const lola = await gateway.addAgent('lola')
  return { gateway, donna, mike, lola }
}

// S4-7
test('a hand-off changes the owner and sends mail that wakes the next one', async () => {
  const { gateway, donna, mike } = await startTeam()
  await using _gateway = gateway
  await using receiver = await startReceiver()
  await gateway.subscribe(mike, receiver.url, { trigger: 'SENT_TO_ME' })
  await claim(gateway, donna, 'issue-7')
  const handed = await handOff(gateway, donna, {
    ref: 'issue-7',
    to: '@mike',
    message: 'Tests are green, docs are missing.',
  })
  expect(handed.status).toBe(200)
  expect(handed.body).toMatchObject({ ref: 'issue-7', owner: '@mike', stale: false })
  expect(await inboxOf(gateway, mike)).toMatchObject([
    {
      messageId: handed.body.messageId,
      from: '@donna',
      type: 'handoff',
      ref: 'issue-7',
      subject: 'Handed over to you: issue-7',
      body: 'Tests are green, docs are missing.',
    },
  ])
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body.payload.messageId).toBe(handed.body.messageId)
  expect((await claim(gateway, donna, 'issue-7')).body.current.owner).toBe('@mike')
  const { events } = (await gateway.call('GET', '/v1/events')).body
  const [first, second] = events.slice(-2)
  expect(first).toMatchObject({
    type: 'claim.handed_off',
    actor: '@donna',
    data: { ref: 'issue-7', owner: '@mike', previousOwner: '@donna', messageId: handed.body.messageId },
  })
  expect([second.type, second.logId]).toEqual(['message.sent', first.logId + 1])
})

// S4-7: one transaction
test('a hand-off whose mail is refused changes nothing', async () => {
  const { gateway, donna, mike } = await startTeam()
  await using _gateway = gateway
  await gateway.call('PATCH', '/v1/agents/mike', { contactPolicy: 'listed' }, mike)
  await claim(gateway, donna, 'issue-7')
  expect((await handOff(gateway, donna, { ref: 'issue-7', to: '@mike' })).status).toBe(403)
  expect(await ownerOf(gateway, 'issue-7')).toBe('@donna')
  expect(await inboxOf(gateway, mike)).toEqual([])
})

// S4-7
test('of many hand-overs at once one is done, and one mail is sent', async () => {
  const { gateway, donna, mike, lola } = await startTeam()
  await using _gateway = gateway
  await claim(gateway, donna, 'issue-7')
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => handOff(gateway, donna, { ref: 'issue-7', to: i % 2 ? '@mike' : '@lola' })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)])
  expect([...(await inboxOf(gateway, mike)), ...(await inboxOf(gateway, lola))]).toHaveLength(1)
})

// S4-2: ownership ambiguity
test('only the owner and the operator hand off, and only a ref that is claimed', async () => {
  const { gateway, donna, mike } = await startTeam()
  await using _gateway = gateway
  const input = { ref: 'issue-7', to: '@mike' }
  expect((await handOff(gateway, donna, input)).body).toMatchObject({ status: 404, code: 'claim-not-found' })
  await claim(gateway, donna, 'issue-7')
  expect((await handOff(gateway, mike, input)).body).toMatchObject({
    code: 'claim-conflict',
    current: { owner: '@donna' },
  })
  expect((await handOff(gateway, undefined, input)).status).toBe(200)
  expect(await ownerOf(gateway, 'issue-7')).toBe('@mike')
  expect(await inboxOf(gateway, mike)).toMatchObject([{ from: '@operator', type: 'handoff' }])
})

test('a hand-off goes to one other agent of the project', async () => {
  const { gateway, donna, mike } = await startTeam()
  await using _gateway = gateway
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const stranger = await gateway.addAgent('stranger', { project: 'web' })
  await gateway.call('POST', '/v1/permissions', { grantee: 'default:donna', scope: 'CAN_REPLY_TO' }, stranger)
  await claim(gateway, donna, 'issue-7')
  for (const to of ['*', '@donna', 'web:stranger', '']) {
    const { body } = await handOff(gateway, donna, { ref: 'issue-7', to })
    expect(body, to).toMatchObject({ status: 400, field: 'to' })
  }
  expect((await handOff(gateway, donna, { ref: 'issue-7', to: 'mik' })).body).toMatchObject({
    status: 404,
    candidates: ['@mike'],
  })
  expect(await ownerOf(gateway, 'issue-7')).toBe('@donna')
  expect((await handOff(gateway, donna, { ref: 'issue-7', to: 'MIKE' })).status).toBe(200)
  expect((await handOff(gateway, mike, { ref: 'issue-7', to: 'donna' })).status).toBe(200)
})

test('two agents that hand work back and forth are stopped: the storm breaker stays shut, and the log has it once', async () => {
  await using gateway = await startGateway({ env: { ROUSE_STORM_TURNS: '5' } })
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await claim(gateway, donna, 'issue-7')
  const answers = []
  for (let n = 0; n < 12; n++) {
    const [from, to] = n % 2 ? [mike, '@donna'] : [donna, '@mike']
    const answer = await handOff(gateway, from, { ref: 'issue-7', to })
    answers.push(answer)
    if (answer.status !== 200) break
  }
  const refused = answers.at(-1)!
  expect(refused.body).toMatchObject({ status: 429, code: 'storm-breaker', limit: 5 })
  const owner = await ownerOf(gateway, 'issue-7')
  const [last, next] = owner === '@donna' ? [donna, '@mike'] : [mike, '@donna']
  expect((await handOff(gateway, last, { ref: 'issue-7', to: next })).body.code).toBe('storm-breaker')
  const logged = async (type: string) => {
    const { events } = (await gateway.call('GET', '/v1/events?since=0&limit=1000')).body
    return events.filter((event: { type: string }) => event.type === type).length
  }
  expect([await logged('mail.storm_tripped'), await logged('claim.handed_off')]).toEqual([1, answers.length - 1])
  expect((await gateway.call('POST', '/v1/messages', { to: next, subject: 'x' }, last)).body.code).toBe('storm-breaker')
  expect([await ownerOf(gateway, 'issue-7'), await logged('mail.storm_tripped')]).toEqual([owner, 1])
})

test('an agent at its quota hands nothing over: the text would be stored', async () => {
  const { gateway, donna } = await startTeam()
  await using _gateway = gateway
  for (let n = 0; n < 8; n++) await claim(gateway, donna, `issue-${n}`)
  await gateway.call('PATCH', '/v1/projects/default', { limits: { bytesStored: 200_000 } })
  const answers = []
  for (let n = 0; n < 8; n++) {
    answers.push(await handOff(gateway, donna, { ref: `issue-${n}`, to: '@mike', message: 'x'.repeat(60_000) }))
  }
  expect(answers.at(0)!.status).toBe(200)
  expect(answers.at(-1)!.body.code).toBe('quota-exceeded')
  expect(await ownerOf(gateway, 'issue-7')).toBe('@donna')
})
