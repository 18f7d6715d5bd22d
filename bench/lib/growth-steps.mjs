import { sendMessage } from './gateway.mjs'

/** The reads of a store: a path, and `isAgents` where an agent asks, which has a tenth of all mail and tasks. */
const reads = {
  'GET /v1/tasks/{id}': { path: ({ ids, sample }) => `/v1/tasks/${ids[(sample * 7919) % ids.length]}` },
  "GET /v1/tasks, an agent's": { path: () => '/v1/tasks?role=assignee', isAgents: true },
  "GET /v1/tasks, the operator's": { path: () => '/v1/tasks' },
  'GET /v1/inbox': { path: () => '/v1/inbox', isAgents: true },
  'GET /v1/inbox, unread': { path: () => '/v1/inbox?unread=true', isAgents: true },
  'GET /v1/inbox, unread and of a signal': {
    path: () => '/v1/inbox?unread=true&signalType=ReviewRequested',
    isAgents: true,
  },
  'GET /v1/events, 100 before the head': { path: ({ head }) => `/v1/events?limit=100&since=${head - 100}` },
  'GET /v1/events, the first 100': { path: () => '/v1/events?limit=100&since=0' },
  'GET /v1/needs': { path: () => '/v1/needs' },
  'GET /v1/agents': { path: () => '/v1/agents?limit=10' },
  'GET /v1/wake-subscriptions': { path: () => '/v1/wake-subscriptions?limit=10' },
}
const answered = 'SendMessage → answered'
const arrived = 'SendMessage → wake arrives'
const resynced = 'POST …/resync, 100 before the head'

/** In the order of the table. */
export const steps = [answered, arrived, ...Object.keys(reads), resynced]

/** What the steps need of a store: a key of an agent, the head of the log, and a subscription to the tasks of the peer. */
export async function prepareSteps(store) {
  const { call } = store.gateway
  store.agentKey = (await call('POST', '/v1/agents/agent0/keys', {})).apiKey
  store.head = (await call('GET', '/v1/events?limit=1')).lastLogId
  const subscription = { trigger: 'TASK_STATE_CHANGED', harnessTarget: 'bridge-daemon', agentIdentity: '@peer' }
  store.resynced = (await call('POST', '/v1/wake-subscriptions', subscription)).subscriptionId
}

/** Takes each step once. Returns how long it took, in ms, by its name. */
export async function takeSteps(store, arrivals) {
  const { gateway, agentKey, head } = store
  const n = store.sample++
  const text = `growth ${store.name} ${n}`
  const took = {}
  const sentAt = performance.now()
  await sendMessage(gateway, `agent${n % store.subscriptions}`, text)
  took[answered] = performance.now() - sentAt
  took[arrived] = (await arrivals.of(text)) - sentAt
  const timed = async (name, ...request) => {
    const startedAt = performance.now()
    await gateway.call(...request)
    took[name] = performance.now() - startedAt
  }
  for (const [name, { path, isAgents }] of Object.entries(reads))
    await timed(name, 'GET', path(store), undefined, isAgents ? agentKey : undefined)
  const resync = `/v1/wake-subscriptions/${encodeURIComponent(store.resynced)}/resync`
  await timed(resynced, 'POST', resync, { sinceLogId: head - 100 })
  return took
}
