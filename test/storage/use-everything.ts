import { beginSession, openStream, ping, post } from '../fronts/mcp/http/wire.ts'
import type { TestAgent, TestGateway } from '../support/gateway.ts'
import { pushDevice } from '../support/push-device.ts'
import { startPushService } from '../support/push-service.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'

/** Makes a gateway run nearly every statement that it has. */
export async function useEverything(gateway: TestGateway): Promise<void> {
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna', { aliases: ['d'] })
  const mike = await gateway.addAgent('mike')
  const sub = await gateway.subscribe(donna, receiver.url)
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const task = await gateway.send('donna', 'hello', { key: mike.key, headers: { 'Idempotency-Key': 'k' } })
  await receiver.waitFor(1)
  await gateway.call('POST', `/v1/tasks/${task.id}/artifacts`, { artifact: { parts: [{ text: 'a' }] } }, donna)
  await gateway.move(donna, task.id, 'input-required', { message: 'which?' })
  await gateway.send('donna', 'that', { key: mike.key, message: { taskId: task.id } })
  await gateway.move(donna, task.id, 'completed')
  for (const query of ['', '?state=submitted', '?role=originator', '?role=originator&state=working', '?contextId=x']) {
    for (const key of [donna.key, gateway.adminKey]) {
      const { body } = await gateway.call('GET', `/v1/tasks${query}`, undefined, { key })
      const next = `${query ? `${query}&` : '?'}pageToken=${Buffer.from(`1/${task.id}`).toString('base64url')}`
      await gateway.call('GET', `/v1/tasks${next}`, undefined, { key })
      if (!body.tasks) throw new Error(JSON.stringify(body))
    }
  }
  await useLists(gateway, [donna, mike], task.id)
  await useMail(gateway, donna.key, mike.key)
  await useFollowers(gateway, mike.key)
  await useApprovals(gateway, await gateway.addAgent('asker'))
  await useSessions(gateway, donna, mike)
  await useStream(gateway, donna, mike)
  await useClaims(gateway, donna, mike)
  await useMcp(gateway, donna)
  await gateway.call('POST', '/v1/permissions', { grantee: 'mike', scope: 'CAN_REPLY_TO' }, donna)
  const paths = ['agents', 'agents/donna', 'agents/donna/keys', 'permissions', 'events', `tasks/${task.id}`]
  for (const path of [
    ...paths,
    'needs',
    'deliveries',
    'figures',
    `events?task=${task.id}`,
    'wake-subscriptions',
    `wake-subscriptions/${sub.id}/deliveries`,
    'catalog',
  ]) {
    for (const key of [donna.key, gateway.adminKey]) await gateway.call('GET', `/v1/${path}`, undefined, { key })
  }
  await gateway.call('POST', `/v1/wake-subscriptions/${sub.id}/resync`, { sinceLogId: 0 }, donna)
  const mcp = { name: 'mail.received', url: 'https://127.0.0.1:9/' }
  await gateway.call('POST', '/v1/event-subscriptions/end', mcp, donna)
  await gateway.call('PATCH', `/v1/wake-subscriptions/${sub.id}`, { status: 'paused' }, donna)
  await useKeys(gateway, donna)
  await gateway.call('GET', '/metrics')
  await gateway.call('GET', '/v1/turns')
  await usePush(gateway)
  const told = { trigger: 'NEED_CHANGED', harnessTarget: 'bridge-daemon' }
  const { body: own } = await gateway.call('POST', '/v1/wake-subscriptions', told)
  const { body: mail } = await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'a' }, mike)
  const raised = async () => (await gateway.call('GET', '/v1/events?since=0&limit=1000')).body.events
  await until(raised, (events) => events.some(({ type }: { type: string }) => type === 'need.raised'))
  await gateway.call('POST', '/v1/needs/snooze', { need: mail.messageId, until: null })
  await gateway.call('DELETE', `/v1/wake-subscriptions/${own.subscriptionId}`)
  const { body: link } = await gateway.call('POST', '/v1/sign-in-codes')
  await gateway.call('POST', '/page/sign-in', undefined, { key: link.code })
  await gateway.call('POST', '/v1/sign-in-codes')
  await gateway.call('DELETE', '/v1/agents/donna')
  await gateway.call('DELETE', '/v1/agents/donna?freeNames=true')
}

/** A browser that takes notifications, and one that is gone. */
async function usePush(gateway: TestGateway): Promise<void> {
  await using service = await startPushService()
  service.respond(410)
  const { body } = await gateway.call('POST', '/v1/push/subscriptions', pushDevice)
  await gateway.call('POST', '/v1/push/subscriptions', service.device('phone'))
  await gateway.call('PATCH', '/v1/gate', { restarts: 'tripped', reason: 'a person looks first' })
  const read = async () => (await gateway.call('GET', '/v1/push')).body.subscriptions
  await until(read, (devices) => devices.length === 1)
  await gateway.call('DELETE', `/v1/push/subscriptions/${body.subscriptionId}`)
  await gateway.call('PATCH', '/v1/gate', { restarts: 'disabled' })
}

/** The lists that only A2A has, and the audit of everything, of the default project and of another one. */
async function useLists(gateway: TestGateway, agents: readonly TestAgent[], taskId: string): Promise<void> {
  const filters = [{}, { status: 'TASK_STATE_WORKING' }, { statusTimestampAfter: new Date(0).toISOString() }]
  for (const key of [...agents.map((agent) => agent.key), gateway.adminKey]) {
    for (const params of [...filters, { contextId: 'x' }, { ...filters[1], ...filters[2] }]) {
      const body = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params }
      const answer = await gateway.call('POST', '/agents/donna', body, { key, headers: { 'A2A-Version': '1.0' } })
      if (!answer.body.result) throw new Error(JSON.stringify(answer.body))
    }
  }
  const config = { taskId, url: 'https://hooks.example/push' }
  const push = { jsonrpc: '2.0', id: 1, method: 'CreateTaskPushNotificationConfig', params: config }
  const { body } = await gateway.call('POST', '/agents/donna', push, { headers: { 'A2A-Version': '1.0' } })
  if (!body.result) throw new Error(JSON.stringify(body))
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  for (const [query, project] of [
    ['?project=*', 'default'],
    ['', 'default'],
    ['?actor=@donna&outcome=ok', 'web'],
  ] as const) {
    const headers = { 'Rouse-Project': project }
    const { status } = await gateway.call('GET', `/v1/audit${query}`, undefined, { key: gateway.adminKey, headers })
    if (status !== 200) throw new Error(`audit: ${status}`)
  }
}

async function useMcp(gateway: TestGateway, donna: TestAgent): Promise<void> {
  const session = await beginSession(gateway, donna)
  const uri = 'rouse://inbox/@donna'
  for (const [method, params] of [
    ['resources/subscribe', { uri }],
    ['resources/unsubscribe', { uri }],
    ['logging/setLevel', { level: 'info' }],
  ] as const) {
    await post(gateway, donna, { ...ping, method, params }, session)
  }
  await using stream = await openStream(gateway, donna, session)
  if (stream.status !== 200) throw new Error(`useMcp: ${stream.status}`)
  await gateway.call('DELETE', '/mcp', undefined, { key: donna.key, headers: session })
}

async function useKeys(gateway: TestGateway, donna: TestAgent): Promise<void> {
  const { body: key } = await gateway.call('POST', '/v1/agents/donna/keys', { expiresInSeconds: 60 }, donna)
  await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, { key: key.apiKey })
  await gateway.call('DELETE', `/v1/agents/donna/keys/${key.keyId}?minted=true`)
  const { body: next } = await gateway.call('POST', '/v1/agents/donna/keys', {}, donna)
  await gateway.call('DELETE', `/v1/agents/donna/keys/${next.keyId}?keep=true`)
  const grant = { grantee: 'mike', scope: 'CAN_MANAGE_SUBSCRIPTIONS_OF' }
  const { body: granted } = await gateway.call('POST', '/v1/permissions', grant, donna)
  await gateway.call('DELETE', `/v1/permissions/${granted.permissionId}`, undefined, donna)
  const { body: operator } = await gateway.call('POST', '/v1/operator-keys', { role: 'viewer', projects: ['default'] })
  await gateway.call('GET', '/v1/operator-keys', undefined, { key: operator.operatorKey })
  await gateway.call('GET', '/v1/needs', undefined, { key: operator.operatorKey })
  await gateway.call('GET', '/v1/operator-keys')
  await gateway.call('DELETE', `/v1/operator-keys/${operator.keyId}?minted=true`)
}

async function useClaims(gateway: TestGateway, donna: TestAgent, mike: TestAgent): Promise<void> {
  const claims = (method: string, path: string, agent: TestAgent, body?: object) =>
    gateway.call(method, `/v1/claims${path}`, body, agent)
  await claims('POST', '', donna, { ref: 'issue-7' })
  await claims('POST', '', mike, { ref: 'issue-7' })
  await claims('POST', '/handoff', donna, { ref: 'issue-7', to: '@mike', message: 'Yours.' })
  await claims('POST', '', mike, { ref: 'issue-7' })
  for (const query of ['', '?ref=issue-7', '?owner=@mike', '?pageToken=a']) await claims('GET', query, donna)
  await claims('DELETE', '', mike, { ref: 'issue-7' })
  await gateway.call('PATCH', '/v1/projects/default', { limits: { owned: 1 } })
  for (const ref of ['issue-8', 'issue-9']) await claims('POST', '', mike, { ref })
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  await gateway.call('GET', '/v1/projects')
  for (const to of ['dona', 'has-telegram', 's0f1e2d', 'web:*', '*']) {
    await gateway.call('POST', '/v1/messages', { to, subject: 'Hello' }, mike)
  }
  await gateway.call('GET', '/v1/permissions?scope=CAN_REPLY_TO&grantor=donna', undefined, mike)
}

async function useSessions(gateway: TestGateway, donna: TestAgent, mike: TestAgent): Promise<void> {
  const surface = { surface: 'codex', pid: 1, startedAt: new Date(0).toISOString() }
  await gateway.call('POST', '/v1/sessions', surface, mike)
  await gateway.call('POST', '/v1/sessions', surface, donna)
  const { body } = await gateway.call('POST', '/v1/sessions', { surface: 'cursor' }, donna)
  const { sessionId } = body
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', sessionId }
  const { body: sub } = await gateway.call('POST', '/v1/wake-subscriptions', input, donna)
  for (const wakePolicy of ['silent', 'immediate'])
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'held', wakePolicy })
  await gateway.call('PUT', `/v1/sessions/${sessionId}`, { presence: { state: 'idle', source: 'unknown' } }, donna)
  await gateway.call('PUT', '/v1/presence', { state: 'idle', source: 'unknown' }, donna)
  for (const key of [donna.key, gateway.adminKey]) {
    for (const path of ['sessions', 'sessions?status=ended', `sessions/${sessionId}`])
      await gateway.call('GET', `/v1/${path}`, undefined, { key })
    await gateway.call('GET', `/v1/wake-subscriptions/${sub.subscriptionId}/held`, undefined, { key })
  }
  await gateway.call('POST', `/v1/wake-subscriptions/${sub.subscriptionId}/resync`, { sinceLogId: 0 }, donna)
  await gateway.call('DELETE', `/v1/sessions/${sessionId}`, undefined, donna)
}

async function useStream(gateway: TestGateway, donna: TestAgent, mike: TestAgent): Promise<void> {
  const say = (state: string) => gateway.call('PUT', '/v1/presence', { state, source: 'bridge-daemon' }, donna)
  await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, donna)
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
  const { body: sub } = await gateway.call('POST', '/v1/wake-subscriptions', input, donna)
  await using reader = await readWakes(gateway, donna, [sub.subscriptionId], ['turn/start'])
  await say('active')
  const { body: mail } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'held' }, mike)
  await say('idle')
  const [wake] = await reader.waitFor(1)
  for (const step of ['held', 'turn_started', 'unknown']) await reader.report(wake!.eventId, step)
  await gateway.call('GET', `/v1/messages/${mail.messageId}`, undefined, mike)
  await gateway.call('GET', `/v1/wake-subscriptions/${sub.subscriptionId}/deliveries`, undefined, donna)
}

async function useMail(gateway: TestGateway, donna: string, mike: string): Promise<void> {
  const headers = { 'Idempotency-Key': 'k' }
  const send = async (key: string, body: object, rest = {}) =>
    (await gateway.call('POST', '/v1/messages', body, { key, ...rest })).body
  const { messageId } = await send(
    donna,
    { to: '@mike', subject: 'a', signalType: 'x.y', type: 'question' },
    { headers },
  )
  await send(donna, { to: '@mike', subject: 'a' }, { headers })
  await send(mike, { inReplyTo: messageId, body: 'b' })
  await send(donna, { to: '*', subject: 'c' })
  for (const status of ['seen', 'acked', 'resolved'])
    await gateway.call('POST', `/v1/messages/${messageId}/status`, { status }, { key: mike })
  const since = new Date(0).toISOString()
  const queries = [
    '',
    'unread=true',
    `thread=${messageId}`,
    'signalType=x',
    'type=msg',
    'type=question',
    `since=${since}`,
  ]
  const parts = ['unread=true&type=msg', 'unread=true&signalType=x', 'unread=true&type=question']
  for (const query of [...queries, `thread=${messageId}&unread=true`, `signalType=x&since=${since}`, ...parts]) {
    for (const order of ['oldest', 'newest'])
      await gateway.call('GET', `/v1/inbox?${query}&order=${order}`, undefined, { key: mike })
  }
  const session = { surface: 'cursor', drain: false }
  const { sessionId } = (await gateway.call('POST', '/v1/sessions', session, { key: mike })).body
  await gateway.call('POST', '/v1/inbox/returns', { sessionId, messageIds: [messageId] }, { key: mike })
  for (const key of [donna, mike, gateway.adminKey]) {
    for (const path of ['messages', `messages/${messageId}`, `threads/${messageId}`])
      await gateway.call('GET', `/v1/${path}`, undefined, { key })
  }
}

/** A harness asks, and a person answers. */
async function useApprovals(gateway: TestGateway, agent: TestAgent): Promise<void> {
  const asked = { harness: 'claude', conversationId: 'c-1', kind: 'permission', tool: 'Bash', input: { command: 'ls' } }
  const ask = async (expiresInSeconds = 60) => {
    const body = { ...asked, nonce: crypto.randomUUID(), expiresInSeconds }
    return (await gateway.call('POST', '/v1/approvals', body, agent)).body
  }
  const person = { role: 'manager', label: 'anna', approve: true }
  const { operatorKey: key } = (await gateway.call('POST', '/v1/operator-keys', person)).body
  const { approvalId, inputHash } = await ask()
  for (const query of ['', '?state=open', '?state=answered', '?conversationId=c-1', '?agent=@asker']) {
    for (const as of [agent.key, key]) await gateway.call('GET', `/v1/approvals${query}`, undefined, { key: as })
  }
  for (const as of [agent.key, key]) await gateway.call('GET', '/v1/needs', undefined, { key: as })
  await gateway.call('POST', `/v1/approvals/${approvalId}/decision`, { answer: 'once', inputHash }, { key })
  await gateway.call('POST', `/v1/approvals/${approvalId}/close`, { outcome: 'taken' }, agent)
  const { approvalId: short } = await ask(1)
  await gateway.call('POST', '/v1/approvals/settle', { harness: 'codex', conversationId: 'c-1' }, agent)
  const states = async () => (await gateway.call('GET', '/v1/events?since=0&limit=1000')).body.events
  const isShort = ({ type, data }: Event) => type === 'approval.closed' && data.approvalId === short
  await until(states, (events: Event[]) => events.some(isShort))
}

interface Event {
  readonly type: string
  readonly data: { readonly approvalId?: string }
}

/** An agent follows a task that it has sent. */
async function useFollowers(gateway: TestGateway, key: string): Promise<void> {
  const { id: taskId } = await gateway.send('donna', 'followed', { key })
  const { followerId } = (await gateway.call('POST', '/v1/followers', { taskId }, { key })).body
  for (const as of [key, gateway.adminKey]) await gateway.call('GET', '/v1/followers', undefined, { key: as })
  await gateway.call('GET', `/v1/followers/${followerId}?waitSeconds=1`, undefined, { key })
  await gateway.call('DELETE', `/v1/followers/${followerId}`, undefined, { key })
}
