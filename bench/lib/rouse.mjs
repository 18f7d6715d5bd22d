import { fileURLToPath, pathToFileURL } from 'node:url'

/** The build that is measured; another one can be put beside it to compare the two. */
export const build = process.env.ROUSE_BENCH_BUILD
  ? pathToFileURL(`${process.env.ROUSE_BENCH_BUILD}/`)
  : new URL('../../dist/', import.meta.url)
// An older build has some files in another folder.
const load = (path) => import(new URL(path, build))
export const rouseMain = fileURLToPath(new URL('main.js', build))

/** The keys of every store that a measurement makes, so that a gateway can open what this process has filled. */
export const adminKey = 'rk_of_the_benchmark_and_of_nothing_else'
export const encryptionKey = Buffer.alloc(32, 7).toString('base64')

/**
 * The engine of a gateway in this process, without fronts: store, log, dispatcher, webhook channel. `dispatch: false` leaves
 * the dispatcher stopped, for filling a store; `databaseUrl` is for a store on PostgreSQL, which several may share.
 */
export async function openRouse(dataDir, { dispatch = true, databaseUrl } = {}) {
  const [
    { openDatabase },
    { openCluster },
    { requeueLeasesOf },
    { openDelivery },
    { openFeatures },
    { OutboundFetch },
    { SecretBox },
    { Cleanup },
    { systemClock: clock },
    projects,
    agents,
    wakes,
    callers,
    send,
  ] = await Promise.all([
    load('storage/open-database.js'),
    load('cluster/cluster.js'),
    load('wakes/store/gateway-leases.js'),
    load('gateway/delivery.js').catch(() => load('wiring/delivery.js')),
    load('gateway/features.js').catch(() => load('wiring/features.js')),
    load('security/outbound-fetch.js'),
    load('security/secret.js'),
    load('lib/cleanup.js'),
    load('lib/clock.js'),
    load('registry/projects/project-store.js'),
    load('registry/agents/agents.js'),
    load('subscriptions/subscribe.js'),
    load('registry/callers/caller.js'),
    load('tasks/send-message.js'),
  ])
  const { sql, statement } = await load('storage/statement.js')
  const { newUuid } = await load('lib/ids.js')

  const undo = new Cleanup()
  const db = undo.use(await openDatabase({ databaseUrl, dataDir }, clock))
  await projects.ensureProject(db, projects.defaultProject)
  const secrets = new SecretBox([encryptionKey])
  const outbound = undo.use(new OutboundFetch({ allow: ['127.0.0.0/8'] }))
  const outside = { db, clock, log: quietLog }
  const cluster = undo.use(await openCluster({ ...outside, databaseUrl, storeName: 'be9c4', requeueLeasesOf }))
  const parts = { ...outside, random: Math.random, cluster, outbound, secrets, signToken: noToken, timeoutMs: 10_000 }
  const delivery = openDelivery(parts, undo)
  const { channels, engine } = delivery
  const counted = { delivered: 0 }
  const webhook = channels['a2a-webhook']
  channels['a2a-webhook'] = { ...webhook, deliver: (order) => countDelivered(webhook.deliver(order), counted) }
  const features = openFeatures(limits, { ...delivery, secrets, checkUrl() {} }, undo)
  if (dispatch) {
    await cluster.start()
    engine.start()
  }
  // The limits of agents are no part of the work.
  const tasks = {
    ...features.tasks,
    usage: { requireRoom() {}, add() {} },
    sends: { check() {}, take() {}, run: (_caller, act) => act(() => {}) },
  }
  const { append } = engine
  const { subscriptions } = features
  const { operator } = callers
  const raw = (text) => statement(sql.raw(text))

  return {
    db,
    newUuid,
    mail: mailOf,
    /** Events that a receiver has taken; their records may still be on the way to the disk. */
    counted,
    register: (handle) => agents.registerAgent(tasks, operator, { handle }),
    subscribe: (agent, url) =>
      wakes.subscribe(subscriptions, operator, {
        trigger: 'SENT_TO_ME',
        harnessTargetMetadata: { url, coalesceWindow: 0 },
        agentIdentity: agent.handle,
      }),
    /** One event of the log in a transaction of its own: the engine's own accept. */
    append: (agent, data) =>
      db.transaction((tx) =>
        append(tx, agent.projectId, [{ type: 'message.sent', actor: operator.identity, audience: [agent.id], data }]),
      ),
    /** The whole path of an A2A SendMessage without its front: task, message, mail, two events. */
    sendMessage: (agent, message, caller = operator) => send.sendMessage(tasks, caller, agent, { message }),
    /** Rows of a SQL text, from the last commit. */
    query: (text) => db.all(raw(text), {}),
    close: () => undo[Symbol.asyncDispose](),
  }
}

/** Accepts the events of the delivery work, rotating over the agents. `way`: `append` (one event) or `sendMessage` (the A2A path). */
export function acceptBy(rouse, way, agents) {
  const agentOf = (index) => agents[index % agents.length]
  const ways = {
    append: (index, text) => rouse.append(agentOf(index), rouse.mail(index, text)),
    sendMessage: (index, text) =>
      rouse.sendMessage(agentOf(index), { messageId: `m${index}`, role: 'ROLE_USER', parts: [{ text }] }),
  }
  return ways[way]
}

async function countDelivered(delivering, counted) {
  const result = await delivering
  if (result.outcome === 'delivered') counted.delivered++
  return result
}

const limits = {
  mail: { perMinute: 0, stormTurns: 0, stormMessages: 0 },
  sessions: { timeoutMs: 300_000 },
  mcpEvents: { allowsHttp: false },
}
const noToken = () => Promise.reject(new Error('The work has no pushes.'))
const quietLog = { debug() {}, info() {}, warn() {}, error: (fields, text) => console.error(text, fields) }

/** The data of an event about a sent message. */
function mailOf(index, text) {
  return {
    messageId: `MESSAGE:${index}`,
    from: '@operator',
    subject: text,
    priority: 'normal',
    wakePolicy: 'immediate',
    taggedConcepts: ['build', 'nightly'],
    isReplyTo: null,
    isBroadcast: false,
    threadId: `MESSAGE:${index}`,
  }
}
