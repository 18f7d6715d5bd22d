import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { TestGateway } from '../support/gateway.ts'
import { startIssuer } from '../support/issuer.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { startTwo } from './two-gateways.ts'

/** The receivers ask for this wait. It is short enough for the run to wait itself, and its gateway keeps the lease. */
const retryAfterSeconds = 3
/** The time after the answer to a revocation in which an attempt may arrive that had begun before it. */
const inFlightMs = 500
/** The time that a revocation on one gateway may take to stop what another has begun. */
const withinMs = 1_000

const unavailable = (res: ServerResponse): void => {
  res.writeHead(503, { 'retry-after': String(retryAfterSeconds) }).end()
}
/** With the bus of PostgreSQL, and with one that nobody answers at. */
const buses: [string, Record<string, string>][] = [
  ['', {}],
  [', also without a bus', { ROUSE_BUS_URL: 'redis://127.0.0.1:1' }],
]
const admins = { claims: { project: 'project', role: 'role' }, projects: '*' }

/** One gateway that trusts an issuer: what is sent, it sends. Others on its store are started later. */
async function startTrusting(env: Record<string, string>) {
  const issuer = await startIssuer()
  const issuers = JSON.stringify([{ issuer: issuer.url, audience: 'rouse', ...admins }])
  const two = await startTwo({ ROUSE_JWT_ISSUERS: issuers, ...env })
  await two.a.stop()
  return {
    b: two.b,
    issuer,
    startAnother: () => two.start(),
    /** The number of gateways that have a lease of a subscription now, and of subscriptions that are leased. */
    async leased() {
      const sql = 'select lease_owner as owner from subscription where lease_owner is not null'
      const owners = (await besideStore(two.dataDir, sql)).map(({ owner }) => `${owner}`.split('.')[0])
      return { gateways: new Set(owners).size, subscriptions: owners.length }
    },
    async [Symbol.asyncDispose]() {
      await two[Symbol.asyncDispose]()
      await issuer[Symbol.asyncDispose]()
    },
  }
}

/** Receivers that are made as they are needed, each for one subscription. */
function openReceivers() {
  const all: Receiver[] = []
  const held: ServerResponse[] = []
  const start = async (how: Parameters<typeof startReceiver>[0]) => {
    const receiver = await startReceiver(how)
    all.push(receiver)
    return receiver
  }
  return {
    all,
    failing: () => start((_wake, res) => unavailable(res)),
    /** It answers when `letGo` is called. */
    holding: () => start((_wake, res) => held.push(res)),
    letGo: () => held.splice(0).forEach(unavailable),
    async [Symbol.asyncDispose]() {
      for (const res of held.splice(0)) unavailable(res)
      await Promise.all(all.map((receiver) => receiver[Symbol.asyncDispose]()))
    },
  }
}

/** Subscribes and registers a push config on `gateway` with a key or token that may act for donna. */
async function settle(gateway: TestGateway, key: string, urls: { wake: string; push: string }): Promise<string> {
  const metadata = { url: urls.wake, coalesceWindow: 0 }
  const input = { agentIdentity: '@donna', trigger: 'SENT_TO_ME', harnessTarget: 'a2a-webhook' }
  const made = await gateway.call(
    'POST',
    '/v1/wake-subscriptions',
    { ...input, harnessTargetMetadata: metadata },
    { key },
  )
  expect(made.status).toBe(201)
  const configuration = { taskPushNotificationConfig: { url: urls.push, id: 'left-behind' } }
  return (await gateway.send('donna', 'a task', { key, configuration })).id
}

// The attack: what leaked keys and tokens set up is being sent by one gateway when they are revoked on another.
test.each(buses)('nothing that hangs on a revoked key is tried again by another gateway%s', async (_, env) => {
  await using store = await startTrusting(env)
  await using receivers = openReceivers()
  const { b, issuer } = store
  const donna = await b.addAgent('donna')
  const mint = async (key: string) =>
    (await b.call('POST', '/v1/agents/donna/keys', { scopes: ['read', 'send', 'manage', 'mint'] }, { key })).body
  const leaked = await mint(donna.key)
  const child = await mint(leaked.apiKey)
  const operator = (await b.call('POST', '/v1/operator-keys', { role: 'admin' })).body
  const token = await issuer.sign({ sub: 'donna', project: 'default', jti: 'stolen' })
  const tokenOfAdmin = await issuer.sign({ sub: 'ops', role: 'admin', jti: 'stolen too' })

  const tasks: string[] = []
  const thieves = [leaked.apiKey, child.apiKey, operator.operatorKey, token, tokenOfAdmin]
  for (const key of thieves) {
    const [wake, push] = [await receivers.failing(), await receivers.failing()]
    tasks.push(await settle(b, key, { wake: wake.url, push: push.url }))
  }
  const [heldWake, heldPush] = [await receivers.holding(), await receivers.holding()]
  tasks.push(await settle(b, leaked.apiKey, { wake: heldWake.url, push: heldPush.url }))
  const revoked = [...receivers.all]
  const [ownWake, ownPush] = [await receivers.failing(), await receivers.failing()]
  tasks.push(await settle(b, donna.key, { wake: ownWake.url, push: ownPush.url }))

  for (const id of tasks) await b.move(donna, id, 'working')
  await b.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello', wakePolicy: 'immediate' })
  for (const receiver of receivers.all) await receiver.waitFor(1)
  const a = await store.startAnother()
  // Each waits for its next attempt, or for its receiver.
  expect(await store.leased()).toEqual({ gateways: 1, subscriptions: receivers.all.length })

  const answers = [
    await a.call('DELETE', `/v1/agents/donna/keys/${leaked.keyId}?minted=true`, undefined, donna),
    await a.call('DELETE', `/v1/operator-keys/${operator.keyId}`),
    await a.call('POST', '/v1/tokens/revoke', { token }),
    await a.call('POST', '/v1/tokens/revoke', { token: tokenOfAdmin }),
  ]
  const answeredAt = Date.now()
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204])
  receivers.letGo()
  // A delivery that the revocations do not concern is tried again, at the times of all.
  for (const own of [ownWake, ownPush]) await own.waitFor(own.wakes.length + 1)
  await pause(inFlightMs)
  const late = revoked.map(({ wakes }) => wakes.filter(({ at }) => at > answeredAt + inFlightMs).length)
  expect(late).toEqual(revoked.map(() => 0))
})

// The attack: so many events wait that the gateway sends them one after the other for minutes.
test.each(buses)(
  'a gateway that sends many events for a key stops within a second of its revocation on another%s',
  async (_, env) => {
    await using store = await startTrusting(env)
    await using receiver = await startReceiver((_wake, res) => setTimeout(() => res.writeHead(200).end(), 200))
    const { b } = store
    const donna = await b.addAgent('donna')
    const { body: leaked } = await b.call('POST', '/v1/agents/donna/keys', {}, donna)
    await b.subscribe({ handle: '@donna', key: leaked.apiKey }, receiver.url, { trigger: 'SENT_TO_ME' })
    const messages = 60
    await b.call('PATCH', '/v1/projects/default', { limits: { stormMessages: 0 } })
    const say = (n: number) => b.call('POST', '/v1/messages', { to: '@donna', subject: `${n}` })
    const said = await Promise.all(Array.from({ length: messages }, (_, n) => say(n)))
    expect(new Set(said.map(({ status }) => status))).toEqual(new Set([201]))
    await receiver.waitFor(5)
    const a = await store.startAnother()
    expect(await store.leased()).toEqual({ gateways: 1, subscriptions: 1 })
    await a.call('DELETE', `/v1/agents/donna/keys/${leaked.keyId}`, undefined, donna)
    await pause(withinMs)
    const sent = receiver.wakes.length
    expect(sent).toBeLessThan(messages)
    await pause(2 * withinMs)
    expect(receiver.wakes.length).toBe(sent)
  },
)
