import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { LogEvent } from '../../src/log/event.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import type { PushSubscription, PushTarget } from '../../src/registry/subscriptions/subscription.ts'
import type { OutboundFetch, OutboundRequest } from '../../src/security/outbound-fetch.ts'
import { SecretBox } from '../../src/security/secret.ts'
import { AttemptLog } from '../../src/wakes/attempt-log.ts'
import type { DeliveryOrder } from '../../src/wakes/channel.ts'
import { singleEmission } from '../../src/wakes/content/emission.ts'
import { createAttemptGate } from '../../src/webhooks/attempt-gate.ts'
import { createPushChannel, type SignToken } from '../../src/webhooks/push-channel.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { pushOf } from '../wakes/builders.ts'

const event: LogEvent = {
  projectId: 'default',
  logId: 7,
  type: 'task.state_changed',
  trigger: 'TASK_STATE_CHANGED',
  taskId: 'task-1',
  actor: '@donna',
  actorId: null,
  data: { newState: 'working' },
  createdAt: Date.parse('2026-04-26T10:00:00.000Z'),
}

/** A channel whose receiver answers with these statuses, one after the other, and the requests that it got. */
function channelFor(target: Partial<PushTarget>, statuses: number[], signToken: SignToken) {
  const clock = new FakeClock()
  const sent: OutboundRequest[] = []
  const post = async (request: OutboundRequest) => {
    sent.push(request)
    return { status: statuses.shift() ?? 200, bodySnippet: '', isPublic: true, durationMs: 1 }
  }
  const tools = {
    outbound: { post } as unknown as OutboundFetch,
    clock,
    random: () => 0,
    gate: createAttemptGate(),
    log: silentLogger,
    attempts: new AttemptLog(silentLogger),
    timeoutMs: 10_000,
  }
  const secrets = new SecretBox([Buffer.alloc(32).toString('base64')])
  const render = async () => ({ body: '{}', contentType: 'application/a2a+json' })
  const subscription = pushOf({
    audience: 'task-1',
    target: {
      url: 'https://client.example:8443/hook?secret=1',
      configId: 'c',
      registeredBy: 'web:@lola',
      protocolVersion: '1.0',
      ...target,
    },
  })
  const order: DeliveryOrder<PushSubscription> = {
    subscription,
    agentIdentity: '@donna',
    emission: singleEmission(subscription, event, null, clock.now()),
    attempts: [],
    signal: new AbortController().signal,
    retryAt: async (_, at) => {
      clock.advance(at - clock.now())
      return true
    },
    keep: async () => true,
    waitFor: (value) => value,
    idle: async (wait) => {
      await wait
      return true
    },
  }
  return { sent, deliver: () => createPushChannel(tools, secrets, render, signToken).deliver(order) }
}

test('a new token is made for each attempt, for the origin only', async () => {
  const tokens: Parameters<SignToken>[0][] = []
  const signToken: SignToken = async (token) => {
    tokens.push(token)
    return `jwt-${tokens.length}`
  }
  const { sent, deliver } = channelFor({ scheme: 'Bearer' }, [500, 503, 200], signToken)
  expect(await deliver()).toMatchObject({ outcome: 'delivered' })
  expect(sent.map(({ headers }) => headers.Authorization)).toEqual(['Bearer jwt-1', 'Bearer jwt-2', 'Bearer jwt-3'])
  const seconds = event.createdAt / 1000
  expect(tokens.map(({ issuedAt }) => issuedAt)).toEqual([seconds, seconds + 1, seconds + 3])
  expect(sent.map(({ headers }) => headers['webhook-timestamp'])).toEqual(tokens.map(({ issuedAt }) => `${issuedAt}`))
  expect(tokens[0]).toMatchObject({
    audience: 'https://client.example:8443',
    seconds: 300,
    claims: {
      sub: 'web:@lola',
      project: 'default',
      configId: 'c',
      taskId: 'task-1',
      urlHash: createHash('sha256').update('https://client.example:8443/hook?secret=1').digest('base64url'),
    },
  })
  expect(new Set(tokens.map(({ id }) => id)).size).toBe(3)
})

test('nothing is sent if the token of a config cannot be made', async () => {
  const { sent, deliver } = channelFor({ scheme: 'Bearer' }, [], () => Promise.reject(new Error('no key')))
  await expect(deliver()).rejects.toThrow('no key')
  expect(sent).toEqual([])
})
