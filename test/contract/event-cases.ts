import type { TestAgent } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { inOffice, type Office } from './exchange.ts'
import { ask, done, plain, rest } from './rest-requests.ts'
import { together } from './together.ts'

/** The log: a page of it, and a stream that has an event of every type. */
export const eventCases = together<Office>(
  (play) => inOffice(play, { ROUSE_STORM_TURNS: '3' }),
  [
    rest('events/page', 'A page of the log: that of a new tenant.', async ({ gateway }) => {
      await done(gateway, ask('POST', '/v1/projects', { project: 'web' }))
      return { ...plain('GET /v1/events'), headers: { 'Rouse-Project': 'web' } }
    }),
    rest(
      'events/stream',
      'The log as a live stream with every type of event, until the key of the reader ends.',
      async (scene) => {
        const { gateway } = scene
        const made = { role: 'viewer', projects: ['default'] }
        const { operatorKey, keyId } = await done(gateway, ask('POST', '/v1/operator-keys', made))
        for (const act of acts) await act(scene)
        const end = () => done(gateway, ask('DELETE', `/v1/operator-keys/${keyId}`))
        const headers = { accept: 'text/event-stream' }
        return {
          ...plain('GET /v1/events'),
          key: operatorKey!,
          headers,
          meanwhile: [['event: mail.rate_limited', end]],
        }
      },
    ),
  ],
)

/** Acts one after the other: the log is in this order. */
const acts: ((scene: Office) => Promise<unknown>)[] = [
  ofAgents,
  ofSessions,
  ofMail,
  ofTasks,
  ofClaims,
  ofSubscriptions,
  ofStreams,
  ofApprovals,
  ofLimits,
]

async function ofAgents({ gateway, lola }: Office): Promise<void> {
  await done(gateway, ask('PATCH', '/v1/projects/default', { limits: { agents: 20 } }))
  await done(gateway, ask('PATCH', '/v1/agents/lola', { description: 'Plans the work.' }, lola))
  const { keyId } = await done(gateway, ask('POST', '/v1/agents/lola/keys', {}))
  await done(gateway, ask('DELETE', `/v1/agents/lola/keys/${keyId}`))
  const grant = { grantee: '@donna', scope: 'CAN_REPLY_TO' }
  const { permissionId } = await done(gateway, ask('POST', '/v1/permissions', grant, lola))
  await done(gateway, ask('DELETE', `/v1/permissions/${permissionId}`, undefined, lola))
  await gateway.addAgent('@mike')
  await done(gateway, ask('DELETE', '/v1/agents/mike'))
}

async function ofSessions({ gateway, donna }: Office): Promise<void> {
  await done(gateway, ask('POST', '/v1/sessions', { surface: 'codex' }, donna))
  const { sessionId } = await done(gateway, ask('POST', '/v1/sessions', { surface: 'cursor' }, donna))
  await done(gateway, ask('DELETE', `/v1/sessions/${sessionId}`, undefined, donna))
}

async function ofMail({ gateway, donna, lola }: Office): Promise<void> {
  for (const statuses of [['seen', 'acked', 'resolved'], ['superseded']]) {
    const { messageId } = await done(gateway, ask('POST', '/v1/messages', { to: '@donna', subject: 'Tests?' }, lola))
    for (const status of statuses) {
      await done(gateway, ask('POST', `/v1/messages/${messageId}/status`, { status }, donna))
    }
  }
}

async function ofTasks({ gateway, donna, lola }: Office): Promise<void> {
  const { id } = await gateway.send('@donna', 'Please review PR 7', { key: lola.key })
  const configs = `/agents/donna/tasks/${id}/pushNotificationConfigs`
  const headers = { 'A2A-Version': '1.0' }
  const config = { id: 'config-1', url: 'https://harness.example/push' }
  await done(gateway, { ...ask('POST', configs, config, lola), headers })
  await done(gateway, { ...ask('DELETE', `${configs}/config-1`, undefined, lola), headers })
  const artifact = { artifactId: 'review', parts: [{ text: 'Looks good.' }] }
  await done(gateway, ask('POST', `/v1/tasks/${id}/artifacts`, { artifact }, donna))
}

async function ofClaims({ gateway, clock, lola }: Office): Promise<void> {
  const ref = 'issue-42'
  await done(gateway, ask('POST', '/v1/claims', { ref }, lola))
  await done(gateway, ask('POST', '/v1/claims/handoff', { ref, to: '@donna' }, lola))
  clock.advance(7 * 3_600_000)
  await done(gateway, ask('POST', '/v1/claims', { ref }, lola))
  await done(gateway, ask('DELETE', '/v1/claims', { ref }, lola))
}

async function ofSubscriptions({ gateway, donna, lola }: Office): Promise<void> {
  await using receiver = await startReceiver(413)
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', startFrom: 'now' })
  const path = `/v1/wake-subscriptions/${id}`
  const send = () => done(gateway, ask('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, lola))
  const untilEvent = (type: string) =>
    until(
      async () => (await gateway.call('GET', '/v1/events?since=0&limit=1000')).body.events,
      (events) => events.at(-1).type === type,
    )
  await send()
  await untilEvent('wake.failed')
  receiver.respond(410)
  await send()
  await untilEvent('subscription.degraded')
  receiver.respond(200)
  await done(gateway, ask('PATCH', path, { status: 'active' }, donna))
  await until(
    async () => (await gateway.call('GET', `${path}/deliveries`)).body.deliveries,
    (all) => all.some(({ outcome }: { outcome: string }) => outcome === 'delivered'),
  )
  await done(gateway, ask('POST', `${path}/resync`, { sinceLogId: await head({ gateway }) }, donna))
  await done(gateway, ask('POST', `${path}/replay`, { fromLogId: 1, toLogId: 1 }, donna))
  await done(gateway, ask('PATCH', path, { rotateSigningKey: true }, donna))
  await done(gateway, ask('PATCH', path, { filters: { priority: 'high' } }, donna))
  await done(gateway, ask('DELETE', path, undefined, donna))
}

async function ofStreams({ gateway, donna, lola }: Office): Promise<void> {
  const request = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', startFrom: 'now' }
  const { subscriptionId } = await done(gateway, ask('POST', '/v1/wake-subscriptions', request, donna))
  await using reader = await readWakes(gateway, donna, [subscriptionId!], ['append-only'])
  await done(gateway, ask('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, lola))
  const [wake] = await reader.waitFor(1)
  await reader.report(wake!.eventId, 'held', 'turn_active', { source: 'codex' })
  await done(gateway, ask('DELETE', `/v1/wake-subscriptions/${subscriptionId}`, undefined, donna))
}

async function ofApprovals({ gateway, donna }: Office): Promise<void> {
  const asked = { harness: 'claude', conversationId: 'conversation-1', kind: 'permission', tool: 'Bash' }
  const input = { command: 'npm test' }
  const request = { ...asked, input, nonce: 'request-1', expiresInSeconds: 600 }
  const { approvalId, inputHash } = await done(gateway, ask('POST', '/v1/approvals', request, donna))
  const person = { role: 'manager', label: 'anna', approve: true }
  const { operatorKey: key } = await done(gateway, ask('POST', '/v1/operator-keys', person))
  const path = `/v1/approvals/${approvalId}/decision`
  await done(gateway, ask('POST', path, { answer: 'once', inputHash }, { key: key! }))
}

/** Two agents that answer each other without end, and one that sends more than it may. */
async function ofLimits({ gateway, donna, lola }: Office): Promise<void> {
  const send = (to: string, { key }: TestAgent) =>
    gateway.call('POST', '/v1/messages', { to, subject: 'Thanks!' }, { key })
  for (let n = 0; n < 3; n++) {
    await send('@lola', donna)
    await send('@donna', lola)
  }
  await done(gateway, ask('PATCH', '/v1/projects/default', { limits: { messagesPerMinute: 1 } }))
  await send('@operator', donna)
}

async function head({ gateway }: Pick<Office, 'gateway'>): Promise<number> {
  return (await gateway.call('GET', '/v1/events?limit=1')).body.lastLogId
}
