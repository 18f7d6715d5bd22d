import { expect, test } from 'vitest'
import { gatewayLimits } from '../../src/limits.ts'
import { openEventStream } from '../support/event-stream.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type Answer, startGateway, type TestAgent } from '../support/gateway.ts'

/** An agent with two keys: one was stolen, its owner has the other. */
async function start(limits: Record<string, number> = {}) {
  const clock = new FakeClock()
  const gateway = await startGateway({ overrides: { clock } })
  const stolen = await gateway.addAgent('donna')
  const bob = await gateway.addAgent('bob')
  const made = await gateway.call('POST', '/v1/agents/donna/keys', { label: 'of the owner' })
  const owner: TestAgent = { handle: '@donna', key: made.body.apiKey }
  await gateway.call('PATCH', '/v1/projects/default', { limits })
  const by = (agent: TestAgent) => (method: string, path: string, body?: unknown) =>
    gateway.call(method, path, body, agent)
  return {
    gateway,
    clock,
    stolen,
    bob,
    thief: by(stolen),
    owner: by(owner),
    ownerKey: owner.key,
    ownerKeyId: made.body.keyId as string,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

/** Asks until this many answers in a row are refused. */
async function flood(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    if (answers.every(({ status }) => status === 429)) return answers[0]!
  }
}

async function stolenKeyId({ owner, ownerKeyId }: Awaited<ReturnType<typeof start>>): Promise<string> {
  const { status, body } = await owner('GET', '/v1/agents/donna/keys')
  expect([status, body.code]).toEqual([200, undefined])
  return body.keys.find(({ keyId }: { keyId: string }) => keyId !== ownerKeyId).keyId
}

// The attack: a thief uses up the requests of the agent, so that the owner's other key is refused when it revokes the stolen one.
test('who floods with a stolen key does not keep its owner from revoking it, and its streams end', async () => {
  await using s = await start({ requestsPerMinute: 100 })
  const headers = { authorization: `Bearer ${s.stolen.key}` }
  await using stream = await openEventStream(`${s.gateway.url}/v1/events`, headers)
  expect(stream.status).toBe(200)
  const ended = stream.take(1_000)
  expect((await flood(() => s.thief('GET', '/v1/agents/bob'))).body.limitName).toBe('requestsPerMinute')
  await flood(() => s.owner('GET', '/v1/agents/bob'))

  expect((await s.owner('DELETE', `/v1/agents/donna/keys/${await stolenKeyId(s)}`)).status).toBe(204)
  expect((await s.thief('GET', '/v1/agents/bob')).status).toBe(401)
  await ended
})

test('nor does who uses up its bytes', async () => {
  await using s = await start({ megabytesPerMinute: 1 })
  const large = { to: '@bob', subject: 'large', body: 'x'.repeat(250_000) }
  while ((await s.thief('POST', '/v1/messages', large)).status !== 429) s.clock.advance(1)
  expect((await s.owner('GET', '/v1/agents/bob')).body.limitName).toBe('megabytesPerMinute')
  expect((await s.owner('DELETE', `/v1/agents/donna/keys/${await stolenKeyId(s)}`)).status).toBe(204)
})

// The attack: the thief makes more keys, floods with each of them, and asks for the same revocations.
test('each key has its own few of these requests, beyond which they count like others', async () => {
  await using s = await start({ requestsPerMinute: 50 })
  const { apiKey: key } = (await s.thief('POST', '/v1/agents/donna/keys', {})).body
  const accomplice = (path: string) => s.gateway.call('DELETE', path, undefined, { key })
  const unknown = '/v1/agents/donna/keys/01J9ZK4R8Q6W2T5X7Y0B3C1D2E'
  for (const ask of [() => s.thief('DELETE', unknown), () => accomplice(unknown)]) await flood(ask)
  const answers: Answer[] = []
  for (let n = 0; n < gatewayLimits.revocationsPerMinute.max + 5; n += 1) {
    answers.push(await s.owner('GET', '/v1/permissions'))
  }
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(gatewayLimits.revocationsPerMinute.max)
  s.clock.advance(12_000)
  const { body } = await s.owner('GET', '/v1/agents/donna/keys')
  const keyIds = body.keys.map(({ keyId }: { keyId: string }) => keyId)
  const minted = body.keys.find(({ createdByKey }: { createdByKey: string }) => keyIds.includes(createdByKey))
  expect((await s.owner('DELETE', `/v1/agents/donna/keys/${minted.createdByKey}?minted=true`)).status).toBe(204)
  expect([(await s.thief('GET', '/v1/agents')).status, (await accomplice(unknown)).status]).toEqual([401, 401])
})

// The attack: the thief grants itself what it likes until nothing is left of the rate, so that nothing can be taken back.
test('revoking a permission uses nothing of the rate of grants, and granting again does', async () => {
  await using s = await start({ startsPerHour: 2 })
  const grant = (scope: string) => s.thief('POST', '/v1/permissions', { grantee: '@bob', scope })
  const made = [await grant('CAN_REPLY_TO'), await grant('CAN_READ_INBOX_OF')]
  expect((await grant('CAN_READ_MEMORIES_OF')).body).toMatchObject({ status: 429, limitName: 'startsPerHour' })
  for (const { body } of made) {
    expect((await s.owner('DELETE', `/v1/permissions/${body.permissionId}`)).status).toBe(204)
    expect((await grant('CAN_REPLY_TO')).status).toBe(429)
  }
  const { body } = await s.owner('GET', '/v1/permissions')
  expect(body.permissions).toEqual([])
})

test('an agent with two keys may ask half as often again as one key: a flood by one leaves that to the other', async () => {
  await using s = await start({ requestsPerMinute: 100 })
  expect((await flood(() => s.thief('GET', '/v1/agents/bob'))).body.detail).toContain('This key of @donna')
  const answers = await Promise.all(Array.from({ length: 60 }, () => s.owner('GET', '/v1/agents/bob')))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(50)
})
