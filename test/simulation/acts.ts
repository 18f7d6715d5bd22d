import { adminKey } from './gateway.ts'
import { manners } from './receivers.ts'
import type { Agent, World } from './world.ts'

type Numbers = readonly [number, number, number]
type Do = (world: World, n: Numbers) => Promise<void> | void

const pick = <Item>(items: readonly Item[], n: number): Item => items[n % items.length]!
/** Most of what happens is about one agent, so that it meets. */
const agentOf = (world: World, n: number): Agent => (n % 5 < 3 ? world.agents[0]! : pick(world.agents, n >>> 3))
/** A number that is about the agent at a place. */
export const numberOf = (at: number): number => 8 * at + [0, 1, 2, 3, 4, 5, 6, 7].find((n) => (8 * at + n) % 5 >= 3)!
const subscriptionOf = (world: World, n: number): string =>
  n % 5 < 3 ? world.subscriptions[0]! : pick(world.subscriptions, n >>> 3)
const pathOf = (id: string): string => `/v1/wake-subscriptions/${encodeURIComponent(id)}`
const later = (world: World, seconds: number): string => new Date(world.realm.wall + seconds * 1_000).toISOString()

/** The calls of programs. None waits for its answer before the next thing happens. */
const calls = {
  mail(world, [a, b, c]) {
    const from = agentOf(world, a)
    const to = agentOf(world, b)
    const subject = `mail ${world.next()}`
    const wakePolicy = pick(['immediate', 'immediate', 'immediate', 'next_turn', 'silent'], c >>> 8)
    const body = { to: `@${to.handle}`, subject, wakePolicy }
    const call = { method: 'POST', path: '/v1/messages', key: from.key, body } as const
    const isKeyed = c % 2 === 0
    void (isKeyed ? world.askOnce(call, (c >>> 4) % 3) : world.ask(call, c % 7 === 0)).then((answer) => {
      if (answer?.status !== 201) return
      world.messages.push({ id: answer.body.messageId, to: to.handle })
      world.watch.accepted(subject, isKeyed)
    })
    if (isKeyed) world.watch.keyed(subject)
  },
  burst(world, [a, b]) {
    const to = agentOf(world, a)
    const from = world.agents.find((one) => one !== to)!
    for (let count = 0; count < 2 + (b % 3); count++) {
      const subject = `mail ${world.next()}`
      const call = { method: 'POST', path: '/v1/messages', key: from.key, body: { to: `@${to.handle}`, subject } }
      void world.ask(call).then((answer) => {
        if (answer?.status === 201) world.watch.accepted(subject, false)
      })
    }
  },
  plea(world, [a]) {
    const body = { to: '@operator', subject: `plea ${world.next()}` }
    void world.ask({ method: 'POST', path: '/v1/messages', key: agentOf(world, a).key, body })
  },
  inbox(world, [a, , c]) {
    const { key } = agentOf(world, a)
    void world.ask({ method: 'GET', path: '/v1/inbox', key, query: { unread: 'true' } }, c % 5 === 0)
  },
  carry(world, [a, , c]) {
    void world.ask({ method: 'GET', path: '/v1/tasks', key: agentOf(world, a).key }, c % 3 === 0)
  },
  status(world, [a, b]) {
    const message = pick(world.messages, a)
    if (!message) return
    const { key } = world.agents.find(({ handle }) => handle === message.to)!
    const body = { status: pick(['seen', 'acked', 'resolved'], b) }
    void world.ask({ method: 'POST', path: `/v1/messages/${message.id}/status`, key, body })
  },
  task(world, [a, b, c]) {
    const { key } = agentOf(world, a)
    const to = agentOf(world, b)
    const message = { messageId: `task-${world.next()}`, role: 'ROLE_USER', parts: [{ text: 'Do it.' }] }
    const path = `/agents/${to.handle}/message:send`
    const body = { message, configuration: { returnImmediately: true } }
    void world.ask({ method: 'POST', path, key, body }, c % 7 === 0).then((answer) => {
      if (answer?.status === 200) world.tasks.push({ id: answer.body.task.id, keys: [key, to.key] })
    })
  },
  move(world, [a, b, c]) {
    const task = a % 5 === 0 ? world.tasks.at(-1) : pick(world.tasks, a)
    if (!task) return
    const to = pick(['working', 'input-required', 'completed', 'failed'], b)
    const path = `/v1/tasks/${task.id}/transitions`
    const body = { to, expectedVersion: 1 + (c % 3) }
    void world.ask({ method: 'POST', path, key: pick(task.keys, (c >>> 4) % 5 === 0 ? 0 : 1), body }).then((answer) => {
      if (answer?.status === 200) world.watch.moved(task.id, body.expectedVersion)
    })
  },
  mint(world, [a, , c]) {
    const { key, handle } = agentOf(world, a)
    const label = `key ${world.next()}`
    world.watch.keyed(label)
    const call = { method: 'POST', path: `/v1/agents/${handle}/keys`, key, body: { label } }
    void world.askOnce(call, c % 4).then((answer) => {
      if (answer?.status === 201) world.watch.accepted(label, true)
    })
  },
  subscribe(world, [a, b, c]) {
    const { key, handle } = agentOf(world, a)
    const trigger = pick(['SENT_TO_ME', 'TASK_STATE_CHANGED', 'MESSAGE_STATUS_CHANGED', 'WAKE_FAILED'], b)
    const harnessTargetMetadata = {
      url: `https://other${c % 2}.example/${handle}`,
      coalesceWindow: pick([0, 2, 20], c >>> 3),
    }
    const body = { trigger, harnessTarget: 'a2a-webhook', harnessTargetMetadata }
    void world.ask({ method: 'POST', path: '/v1/wake-subscriptions', key, body }).then((answer) => {
      if (answer?.status === 201) world.watch.subscribed(answer.body.subscriptionId, handle, 1)
    })
  },
  event(world, [a, b, c]) {
    const { key, handle } = agentOf(world, a)
    const url = `https://client${b % 2}.example/${handle}`
    const about = { name: pick(['mail.received', 'task.state_changed'], b >>> 3), url }
    const secret = `whsec_${Buffer.alloc(32, 1 + (b % 2)).toString('base64')}`
    const [path, body] =
      c % 4 === 0
        ? ['/v1/event-subscriptions/end', about]
        : ['/v1/event-subscriptions', { ...about, secret, ttlMs: pick([60_000, 600_000, 86_400_000], c >>> 3) }]
    void world.ask({ method: 'POST', path, key, body })
  },
  pause(world, [a]) {
    const id = subscriptionOf(world, a)
    world.watch.touches(id)
    const paused = world.watch.pausing(id)
    void world.ask({ method: 'PATCH', path: pathOf(id), key: adminKey, body: { status: 'paused' } }).then((answer) => {
      if (answer?.status === 200) paused()
    })
  },
  resume(world, [a]) {
    const id = subscriptionOf(world, a)
    world.watch.touches(id)
    world.watch.resumes(id)
    const body = { status: 'active' }
    void world.ask({ method: 'PATCH', path: pathOf(id), key: adminKey, body }).then(() => world.watch.resumes(id))
  },
  change(world, [a, b]) {
    const id = subscriptionOf(world, a)
    world.watch.touches(id)
    const harnessTargetMetadata = { coalesceWindow: pick([0, 1, 10], b) }
    void world.ask({ method: 'PATCH', path: pathOf(id), key: adminKey, body: { harnessTargetMetadata } })
  },
  resync(world, [a, b]) {
    const id = subscriptionOf(world, a)
    const body = { sinceLogId: b % 10 }
    world.watch.touches(id)
    world.watch.sendsAgain(id, body.sinceLogId)
    void world.ask({ method: 'POST', path: `${pathOf(id)}/resync`, key: adminKey, body })
  },
  replay(world, [a, b]) {
    const id = subscriptionOf(world, a)
    world.watch.touches(id)
    world.watch.sendsAgain(id)
    const body = { fromLogId: 1 + (b % 10), toLogId: 11 + (b % 10) }
    void world.ask({ method: 'POST', path: `${pathOf(id)}/replay`, key: adminKey, body })
  },
  claim(world, [a, b, c]) {
    const { key } = pick(world.agents, a >>> 3)
    const body = { ref: `work ${b % 2}` }
    if (c % 3 > 0) void world.ask({ method: 'POST', path: '/v1/claims', key, body })
    else void world.ask({ method: 'DELETE', path: '/v1/claims', key, body })
  },
  session(world, [a, b]) {
    const agent = agentOf(world, a)
    world.watch.touches(agent.handle)
    const startedAt = later(world, 0)
    const body = { surface: pick(['claude_code', 'other'], b), pid: ++agent.pid, startedAt }
    void world.ask({ method: 'POST', path: '/v1/sessions', key: agent.key, body }).then((answer) => {
      if (answer && answer.status < 300) agent.sessionId = answer.body.sessionId
    })
  },
  leave(world, [a, b]) {
    const { sessionId, key, handle } = agentOf(world, a)
    if (!sessionId) return
    world.watch.touches(handle)
    const query = { by: pick(['harness', 'harness', 'person'], b) }
    void world.ask({ method: 'DELETE', path: `/v1/sessions/${sessionId}`, key, query })
  },
  presence(world, [a, b]) {
    const { key, handle } = agentOf(world, a)
    world.watch.touches(handle)
    const body = { state: pick(['idle', 'active', 'waitingOnApproval', 'userTyping'], b), source: 'bridge-daemon' }
    void world.ask({ method: 'PUT', path: '/v1/presence', key, body })
  },
  park(world, [a, b]) {
    const { key, handle } = agentOf(world, a)
    const body = { until: b % 5 === 0 ? null : later(world, 1 + (b % 300)), reason: 'usage-limit' }
    world.watch.touches(handle)
    const parked = world.watch.parking(handle, body.until)
    void world.ask({ method: 'PUT', path: '/v1/parked', key, body }).then((answer) => {
      if (answer?.status === 200) parked(body.until)
    })
  },
  unpark(world, [a]) {
    const { key, handle } = agentOf(world, a)
    world.watch.touches(handle)
    world.watch.unparks(handle)
    // A park that is asked for meanwhile may be stored before it.
    void world.ask({ method: 'DELETE', path: '/v1/parked', key }).then(() => world.watch.unparks(handle))
  },
  gate(world, [a, b]) {
    const [nudges, restarts] = [pick(['enabled', 'enabled', 'disabled'], b), pick(['enabled', 'disabled'], b >>> 4)]
    const agent = a % 3 === 0 ? {} : { agent: agentOf(world, a).handle }
    const body = { ...agent, nudges, restarts, settings: { staleAfterSeconds: 60, bootTimeoutSeconds: 60 } }
    void world.ask({ method: 'PATCH', path: '/v1/gate', key: adminKey, body })
  },
  cap(world, [a, b]) {
    const { handle } = agentOf(world, a)
    const turnsPerHour = pick([1, 2, 5], b)
    world.watch.touches(handle)
    const call = {
      method: 'PATCH',
      path: '/v1/gate',
      key: adminKey,
      body: { agent: handle, settings: { turnsPerHour } },
    }
    void world.ask(call).then((answer) => {
      if (answer?.status === 200) world.watch.caps(handle, turnsPerHour)
    })
  },
  bridge(world, [a, b]) {
    const agent = agentOf(world, a)
    if (agent.hasBridge) return
    agent.hasBridge = true
    void runBridge(world, agent, b % 4)
  },
} satisfies Record<string, Do>

/** A bridge reports every half a minute, and starts what it is told to. */
async function runBridge(world: World, agent: Agent, laziness: number): Promise<void> {
  const { key } = agent
  const startedAt = later(world, 0)
  while (!world.isOver) {
    const body = { startedAt, starts: 1, restart: 'proven', harness: 'codex', seen: false }
    const report = await world.ask({ method: 'PUT', path: '/v1/recovery/bridge', key, body })
    const order = report?.body.order
    if (order) {
      const begin = { method: 'POST', path: '/v1/recovery/acts', key, body: { epoch: order.epoch } }
      // Two bridges of one agent have the same order.
      const answers = await Promise.all([world.ask(begin), world.ask(begin)])
      for (const { status } of answers.flatMap((one) => one ?? [])) {
        if (status === 200) world.watch.begun(agent.handle, order.epoch)
      }
      if (answers.some((one) => one?.status === 200)) await boot(world, agent, laziness)
    }
    await new Promise<void>((resolve) => world.realm.after(30_000, resolve))
  }
}

/** A harness starts, reads its mail and acts; a lazy one is never heard of, a quick one is gone at once. */
async function boot(world: World, agent: Agent, laziness: number): Promise<void> {
  if (laziness === 3) return
  await new Promise<void>((resolve) => world.realm.after(1_000 + laziness * 4_000, resolve))
  world.watch.touches(agent.handle)
  const body = { surface: 'codex', pid: ++agent.pid, startedAt: later(world, 0) }
  const answer = await world.ask({ method: 'POST', path: '/v1/sessions', key: agent.key, body })
  if (!answer || answer.status >= 300) return
  agent.sessionId = answer.body.sessionId
  await new Promise<void>((resolve) => world.realm.after(500 + laziness * 20_000, resolve))
  await world.ask({ method: 'GET', path: '/v1/inbox', key: agent.key })
  if (laziness === 1) await world.ask({ method: 'DELETE', path: `/v1/sessions/${agent.sessionId}`, key: agent.key })
}

/** The faults of the machine, its disk, its clocks and its network, and the time itself. */
const faults = {
  manner(world, [a, b]) {
    const { handle } = agentOf(world, a >>> 3)
    const receiver = pick(
      [handle, handle, handle, handle, handle, handle, 'other0', 'other1', 'client0', 'operator'],
      a,
    )
    world.receivers.manner.set(`${receiver}.example`, pick(manners, b))
  },
  well(world) {
    world.receivers.manner.clear()
  },
  crash(world, [a, b]) {
    if (world.places.areSeveral) world.places.crash(b, a % 30)
    else world.disk.faults.crashIn = 1 + (a % 40)
  },
  restart: (world, [, b]) => world.stop(b),
  full(world, [a]) {
    world.disk.faults.full = 1 + (a % 6)
  },
  unreadable(world, [a]) {
    world.disk.faults.unreadable = 1 + (a % 4)
  },
  async failing(world, [a]) {
    // The store of several gateways is a machine of its own, with faults of its own.
    if (world.places.areSeveral) return
    world.disk.faults.failing = 1
    world.wasHurt = true
    await world.realm.pass(500)
    // Nothing is stored any more until a person has looked, or the power fails.
    if (world.disk.isBroken) await (a % 2 === 0 ? world.stop() : world.places.crash())
  },
  clock(world, [a, b]) {
    if (world.places.areSeveral) return world.places.hurt(b, 'clock', pick([-90_000, -3_000, 3_000, 120_000], a))
    const step = pick([-90_000, -5_000, 3_000, 120_000], a)
    world.realm.offset += step
    if (step < -10_000) world.watch.clockSet()
  },
  sleep(world, [a]) {
    world.places.sleep(pick([20_000, 600_000], a))
  },
  halt(world, [a, b]) {
    if (world.places.areSeveral) world.places.hurt(b, 'freeze', pick([5_000, 15_000, 40_000, 70_000], a))
    else world.realm.jump(pick([5_000, 70_000, 200_000], a))
  },
  cut(world, [a, b]) {
    if (world.places.areSeveral) world.places.hurt(b, 'cut', pick([100, 5_000, 15_000, 40_000], a))
  },
  deafen(world, [a]) {
    world.places.lose(pick([0, 1, 5, 10], a))
  },
  // Recovery takes minutes, and much else is over within one.
  wait: (world, [a]) =>
    world.wait(
      pick(world.history.mix.recovers ? [10_000, 60_000, 200_000, 700_000] : [5_000, 20_000, 60_000, 400_000], a),
    ),
} satisfies Record<string, Do>

export type ActName = keyof typeof calls | keyof typeof faults

export const actsOf: Readonly<Record<ActName, Do>> = { ...calls, ...faults }
export const actNames = Object.keys(actsOf) as ActName[]

/** How often an act occurs in a history that has it, and in how many histories. */
export const weights: Readonly<Record<ActName, { readonly weight: number; readonly share: number }>> = {
  mail: { weight: 20, share: 1 },
  inbox: { weight: 3, share: 0.5 },
  carry: { weight: 2, share: 0.4 },
  status: { weight: 3, share: 0.4 },
  task: { weight: 5, share: 0.5 },
  move: { weight: 5, share: 0.5 },
  burst: { weight: 4, share: 0.7 },
  plea: { weight: 1, share: 0.3 },
  mint: { weight: 2, share: 0.4 },
  subscribe: { weight: 2, share: 0.4 },
  event: { weight: 1, share: 0.25 },
  pause: { weight: 2, share: 0.4 },
  resume: { weight: 3, share: 0.5 },
  change: { weight: 1, share: 0.3 },
  resync: { weight: 1, share: 0.2 },
  replay: { weight: 1, share: 0.2 },
  claim: { weight: 3, share: 0.3 },
  session: { weight: 3, share: 0.6 },
  leave: { weight: 2, share: 0.5 },
  presence: { weight: 2, share: 0.4 },
  park: { weight: 3, share: 0.4 },
  unpark: { weight: 1, share: 0.4 },
  gate: { weight: 2, share: 0.4 },
  cap: { weight: 1, share: 0.25 },
  bridge: { weight: 2, share: 0.4 },
  manner: { weight: 8, share: 0.7 },
  well: { weight: 2, share: 0.6 },
  crash: { weight: 2, share: 0.4 },
  restart: { weight: 1, share: 0.3 },
  full: { weight: 1, share: 0.25 },
  unreadable: { weight: 1, share: 0.2 },
  failing: { weight: 0.5, share: 0.15 },
  clock: { weight: 0.7, share: 0.2 },
  sleep: { weight: 0.7, share: 0.2 },
  halt: { weight: 0.7, share: 0.2 },
  cut: { weight: 2, share: 0.5 },
  deafen: { weight: 2, share: 0.5 },
  wait: { weight: 4, share: 0.8 },
}
