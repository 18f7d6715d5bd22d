import type { JsonObject } from '../../src/lib/json.ts'
import { must, projectSecret, secret, type World } from './world.ts'

/** A request for a row of the table, about something of donna's that was made for it. */
export interface PlantedRequest {
  readonly path: string
  readonly body?: unknown
}

export interface RestCase {
  /** Makes the target of the request, as donna or the operator, and returns its name. Called again for each caller that succeeds. */
  readonly plant: (world: World) => Promise<PlantedRequest>
  /** The request names nothing of donna's: it is about the caller's own, or its own project's. */
  readonly atHome?: true
  /** The answer to an allowed caller, if no request can succeed in this setup. */
  readonly answers?: number
}

const mcpSecret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

let count = 0
const next = (): number => ++count

/** One valid request for each row of the table, by the row's name. */
export const restCases: Record<string, RestCase> = {
  'agent.list': { atHome: true, plant: async () => ({ path: '/v1/agents' }) },
  'agent.register': { atHome: true, plant: async () => ({ path: '/v1/agents', body: { handle: `new${next()}` } }) },
  'agent.read': { plant: async () => ({ path: '/v1/agents/donna' }) },
  'agent.change': { plant: async () => ({ path: '/v1/agents/donna', body: { description: projectSecret } }) },
  'agent.remove': {
    plant: async ({ gateway }) => {
      const handle = `gone${next()}`
      await gateway.addAgent(handle)
      return { path: `/v1/agents/${handle}` }
    },
  },
  'key.list': { plant: async () => ({ path: '/v1/agents/donna/keys' }) },
  'key.make': { plant: async () => ({ path: '/v1/agents/donna/keys', body: { label: secret } }) },
  'key.revoke': {
    plant: async (world) => {
      const { keyId } = await world.asDonna('POST', '/v1/agents/donna/keys', { label: secret })
      return { path: `/v1/agents/donna/keys/${keyId}` }
    },
  },
  'key.whoami': { atHome: true, plant: async () => ({ path: '/v1/whoami' }) },
  'need.snooze': {
    plant: async (world) => {
      const { messageId: need } = await world.asDonna('POST', '/v1/messages', { to: '@operator', subject: secret })
      return { path: '/v1/needs/snooze', body: { need, until: null } }
    },
  },
  'signInCode.make': { atHome: true, plant: async () => ({ path: '/v1/sign-in-codes' }) },
  'catalog.search': { atHome: true, plant: async () => ({ path: '/v1/catalog' }) },

  'subscription.list': { plant: async () => ({ path: '/v1/wake-subscriptions?agent=donna' }) },
  'subscription.make': {
    plant: async (world) => ({
      path: '/v1/wake-subscriptions',
      body: { ...subscription(world), agentIdentity: '@donna' },
    }),
  },
  'subscription.read': ofSubscription(''),
  'subscription.change': ofSubscription('', { harnessTargetMetadata: { coalesceWindow: 3 } }),
  'subscription.remove': ofSubscription(''),
  'subscription.resync': ofSubscription('/resync', { sinceLogId: 1 }),
  'subscription.replay': ofSubscription('/replay', { failedSince: '2026-01-01T00:00:00.000Z' }),
  'subscription.test': ofSubscription('/test'),
  'subscription.deliveries': ofSubscription('/deliveries'),
  'subscription.held': ofSubscription('/held'),

  'event_type.list': { atHome: true, plant: async () => ({ path: '/v1/event-types' }) },
  'event_type.poll': {
    atHome: true,
    plant: async () => ({ path: '/v1/event-types/poll', body: { name: 'message.status_changed' } }),
  },
  // Nobody answers the challenge.
  'event_subscription.make': {
    atHome: true,
    answers: 422,
    plant: async () => ({
      path: '/v1/event-subscriptions',
      body: { name: 'message.status_changed', url: 'https://127.0.0.1:9/', secret: mcpSecret },
    }),
  },
  'event_subscription.end': {
    atHome: true,
    plant: async () => ({
      path: '/v1/event-subscriptions/end',
      body: { name: 'message.status_changed', url: 'https://127.0.0.1:9/' },
    }),
  },

  // A stream would go on: the subscription's wakes go elsewhere, which only its owner learns.
  'wake_stream.open': {
    answers: 400,
    plant: async (world) => {
      const made = { ...subscription(world), agentIdentity: '@donna' }
      const { body } = await world.gateway.call('POST', '/v1/wake-subscriptions', made)
      return { path: `/v1/wake-stream?subscription=${body.subscriptionId}` }
    },
  },
  'wake_stream.report': {
    atHome: true,
    plant: async () => ({ path: '/v1/wake-stream/receipts', body: [{ eventId: 'none', step: 'delivered' }] }),
  },

  'task.list': { atHome: true, plant: async () => ({ path: '/v1/tasks' }) },
  'task.read': { plant: async (world) => ({ path: `/v1/tasks/${await plantTask(world)}` }) },
  'task.readMessages': { plant: async (world) => ({ path: `/v1/tasks/${await plantTask(world)}/messages` }) },
  'task.readArtifacts': { plant: async (world) => ({ path: `/v1/tasks/${await plantTask(world)}/artifacts` }) },
  'task.move': {
    plant: async (world) => ({
      path: `/v1/tasks/${await plantTask(world)}/transitions`,
      body: { to: 'working', expectedVersion: 1 },
    }),
  },
  'task.addArtifact': {
    plant: async (world) => ({
      path: `/v1/tasks/${await plantTask(world)}/artifacts`,
      body: { artifact: { parts: [{ text: secret }] } },
    }),
  },

  'message.list': { atHome: true, plant: async () => ({ path: '/v1/messages' }) },
  'message.send': {
    plant: async () => ({ path: '/v1/messages', body: { to: 'default:mike', subject: 'hello' } }),
  },
  'message.read': { plant: async (world) => ({ path: `/v1/messages/${await plantMail(world)}` }) },
  'message.mark': {
    plant: async (world) => ({ path: `/v1/messages/${await plantMail(world)}/status`, body: { status: 'seen' } }),
  },
  'inbox.read': {
    plant: async (world) => {
      await plantMail(world)
      return { path: '/v1/inbox?agent=default:donna' }
    },
  },
  'inbox.return': {
    plant: async (world) => {
      const sessionId = await startSession(world, world.donna.key)
      return { path: '/v1/inbox/returns', body: { sessionId, messageIds: [await plantMail(world)] } }
    },
  },
  'thread.read': {
    plant: async (world) => {
      const { threadId } = await world.asDonna('GET', `/v1/messages/${await plantMail(world)}`)
      return { path: `/v1/threads/${threadId}` }
    },
  },

  'session.list': { atHome: true, plant: async () => ({ path: '/v1/sessions' }) },
  'session.start': { atHome: true, plant: async () => ({ path: '/v1/sessions', body: { surface: 'test' } }) },
  'session.read': ofSession(),
  'session.beat': ofSession({}),
  'session.end': ofSession(),
  'presence.report': {
    atHome: true,
    plant: async (world) => {
      for (const who of ['donna', 'mike', 'gina', 'zoe'] as const) await startSession(world, world.keyOf(who)!)
      return { path: '/v1/presence', body: { state: 'idle', source: 'unknown' } }
    },
  },

  'need.list': { atHome: true, plant: async () => ({ path: '/v1/needs' }) },
  'delivery.list': { atHome: true, plant: async () => ({ path: '/v1/deliveries' }) },
  'recovery.list': { atHome: true, plant: async () => ({ path: '/v1/recovery' }) },
  'recovery.heartbeat': { atHome: true, plant: async () => ({ path: '/v1/heartbeat' }) },
  'recovery.account': { atHome: true, plant: async () => ({ path: '/v1/recovery/bridge', body: bridgeAccount }) },
  // No order has been given.
  'recovery.begin': {
    atHome: true,
    answers: 409,
    plant: async () => ({ path: '/v1/recovery/acts', body: { epoch: 1 } }),
  },
  'recovery.report': {
    atHome: true,
    answers: 409,
    plant: async () => ({ path: '/v1/recovery/acts/1/report', body: { outcome: 'failed' } }),
  },
  'gate.read': { atHome: true, plant: async () => ({ path: '/v1/gate' }) },
  'gate.change': { atHome: true, plant: async () => ({ path: '/v1/gate', body: { reason: 'r' } }) },
  'turns.list': { atHome: true, plant: async () => ({ path: '/v1/turns' }) },
  'turns.begin': {
    plant: async () => ({
      path: '/v1/turns',
      body: { agent: '@donna', eventId: '01J00000000000000000000000', route: 'exec' },
    }),
  },
  // The turn is nobody's.
  'turns.end': {
    answers: 404,
    plant: async () => ({
      path: '/v1/turns/01J00000000000000000000000/end',
      body: { agent: '@donna', outcome: 'completed' },
    }),
  },
  'parked.read': { plant: async () => ({ path: '/v1/parked?agent=donna' }) },
  'parked.set': {
    atHome: true,
    plant: async () => ({ path: '/v1/parked', body: { until: null, reason: 'spend-cap' } }),
  },
  'parked.end': { plant: async () => ({ path: '/v1/parked?agent=donna' }) },

  'permission.list': { atHome: true, plant: async () => ({ path: '/v1/permissions' }) },
  'permission.grant': {
    plant: async () => ({
      path: '/v1/permissions',
      body: { grantor: 'donna', grantee: 'mike', scope: 'CAN_REPLY_TO' },
    }),
  },
  'permission.revoke': {
    plant: async (world) => {
      const grant = { grantee: 'mike', scope: 'CAN_READ_INBOX_OF' }
      const { permissionId } = await world.asDonna('POST', '/v1/permissions', grant)
      return { path: `/v1/permissions/${permissionId}` }
    },
  },

  'claim.list': { atHome: true, plant: async () => ({ path: '/v1/claims' }) },
  'claim.take': { atHome: true, plant: async () => ({ path: '/v1/claims', body: { ref: `ref-${next()}` } }) },
  'claim.release': {
    plant: async (world) => ({ path: '/v1/claims', body: { ref: await plantClaim(world) } }),
  },
  'claim.handOff': {
    plant: async (world) => ({ path: '/v1/claims/handoff', body: { ref: await plantClaim(world), to: 'mike' } }),
  },

  'operatorKey.list': { plant: async () => ({ path: '/v1/operator-keys' }) },
  'operatorKey.make': { plant: async () => ({ path: '/v1/operator-keys', body: { role: 'viewer', label: secret } }) },
  'operatorKey.revoke': {
    plant: async ({ gateway }) => {
      const made = await must(gateway.call('POST', '/v1/operator-keys', { role: 'viewer', label: secret }))
      return { path: `/v1/operator-keys/${made.keyId}` }
    },
  },
  'token.revoke': {
    plant: async (world) => ({ path: '/v1/tokens/revoke', body: { token: await world.newToken() } }),
  },
  'project.list': { atHome: true, plant: async () => ({ path: '/v1/projects' }) },
  'project.read': { plant: async () => ({ path: '/v1/projects/default' }) },
  'project.change': { plant: async () => ({ path: '/v1/projects/default', body: { limits: { streams: null } } }) },
  'project.make': { plant: async () => ({ path: '/v1/projects', body: { project: `made${next()}` } }) },
  'event.read': { atHome: true, plant: async () => ({ path: '/v1/events?since=0&limit=1000' }) },
  'audit.read': { atHome: true, plant: async () => ({ path: '/v1/audit' }) },
}

const bridgeAccount = { startedAt: '2026-01-01T00:00:00.000Z', starts: 1, restart: 'none', seen: false }

function subscription({ receiver }: World): JsonObject {
  return {
    trigger: 'MESSAGE_STATUS_CHANGED',
    harnessTarget: 'a2a-webhook',
    harnessTargetMetadata: { url: `${receiver.url}/${secret}`, coalesceWindow: 0 },
  }
}

function ofSubscription(below: string, body?: JsonObject): RestCase {
  return {
    plant: async (world) => {
      const { subscriptionId } = await world.asDonna('POST', '/v1/wake-subscriptions', subscription(world))
      return { path: `/v1/wake-subscriptions/${subscriptionId}${below}`, body }
    },
  }
}

function ofSession(body?: JsonObject): RestCase {
  return {
    plant: async (world) => ({ path: `/v1/sessions/${await startSession(world, world.donna.key)}`, body }),
  }
}

async function startSession({ gateway }: World, key: string): Promise<string> {
  const started = gateway.call('POST', '/v1/sessions', { surface: 'test', capabilities: [] }, { key })
  return String((await must(started)).sessionId)
}

async function plantTask({ gateway, mike }: World): Promise<string> {
  return (await gateway.send('donna', secret, { key: gateway.adminKey, message: { metadata: { by: mike.handle } } })).id
}

async function plantMail({ gateway }: World): Promise<string> {
  const mail = { to: 'donna', subject: secret, body: secret }
  return String((await must(gateway.call('POST', '/v1/messages', mail))).messageId)
}

async function plantClaim(world: World): Promise<string> {
  const ref = `ref-${next()}`
  await world.asDonna('POST', '/v1/claims', { ref })
  return ref
}
