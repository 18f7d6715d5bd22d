import { type Answer, adminKey, type Call } from './gateway.ts'
import { fail, isTaken, type Watch } from './watch.ts'
import type { World } from './world.ts'

type Soon = (call: Call) => Promise<Answer>
type Row = Readonly<Record<string, string | number | null>>

/** The rules that hold when faults have stopped and time has passed, checked against the store and what the world has seen. */
export async function checkEnd(world: World, watch: Watch, soon: Soon): Promise<void> {
  const peek = (text: string, ...values: (string | number)[]): Row[] => world.places.peek(text, ...values)
  const events = peek(
    "select log_id, type, task_id, data, created_at from event where project_id = 'default' order by log_id",
  ).map((row) => ({
    logId: Number(row.log_id),
    type: String(row.type),
    taskId: String(row.task_id),
    at: Number(row.created_at),
    data: JSON.parse(String(row.data)),
  }))
  for (const [at, { logId }] of events.entries())
    if (logId !== at + 1) fail('the log has no gap', `${at + 1} is ${logId}`)
  checkAccepted(watch, peek)
  checkClaims(events)
  checkRecovery(events, peek)
  checkTasks(events)
  checkReceipts(world, peek)
  if (world.history.mix.isWatched) await checkNeeds(events, soon)
  await checkWakes(world, watch, events, soon)
}

type Peek = (text: string, ...values: (string | number)[]) => Row[]
interface Logged {
  readonly logId: number
  readonly type: string
  readonly taskId: string
  /** ms since the epoch. */
  readonly at: number
  // biome-ignore lint/suspicious/noExplicitAny: each type of event has data of its own
  readonly data: any
}

function checkAccepted({ acceptedWords, keyedWords }: Watch, peek: Peek): void {
  const rows = peek(
    'select subject as word from message union all select label as word from api_key where label is not null',
  )
  const counts = new Map<string, number>()
  for (const { word } of rows) counts.set(String(word), (counts.get(String(word)) ?? 0) + 1)
  for (const word of acceptedWords.keys()) if (!counts.has(word)) fail('nothing that was accepted is lost', word)
  const [unsaid] = peek(
    "select id from message where (subject like 'mail %' or subject like 'plea %') and not exists (select 1 from event where type = 'message.sent' and json_extract(data, '$.messageId') = message.id)",
  )
  if (unsaid) fail('what is stored is in the log', String(unsaid.id))
  for (const word of keyedWords) if ((counts.get(word) ?? 0) > 1) fail('a keyed call is carried out once', word)
}

/** An owner that is silent for this long may lose its claim. */
const claimSilenceMs = 6 * 3_600_000

function checkClaims(events: readonly Logged[]): void {
  const owners = new Map<string, { readonly owner: string; readonly at: number }>()
  for (const { type, data, at } of events) {
    if (!type.startsWith('claim.')) continue
    const last = owners.get(data.ref)
    const isSilent = last === undefined || (type === 'claim.taken_over' && at - last.at >= claimSilenceMs)
    if (type === 'claim.released') owners.delete(data.ref)
    else if (isSilent) owners.set(data.ref, { owner: String(data.owner), at })
    else fail('a claim has one owner', `${data.ref} of ${last.owner}`)
  }
}

function checkTasks(events: readonly Logged[]): void {
  const states = new Map<string, string>()
  for (const { type, taskId, data } of events) {
    if (type !== 'task.state_changed') continue
    const known = states.get(taskId)
    if (known !== undefined && data.previousState !== known) fail('the states of a task are a chain', taskId)
    states.set(taskId, data.newState)
  }
}

/** A receipt says what a wake has proved, and no more. */
function checkReceipts({ receivers: { posts }, wasHurt }: World, peek: Peek): void {
  const rows = peek(
    `select e.log_id, r.message_id, r.agent_id, r.receipt, r.delivery_method as method from message_recipient r
      join event e on e.type = 'message.sent' and json_extract(e.data, '$.messageId') = r.message_id
      where r.agent_id <> 'operator' and r.status = 'sent'`,
  )
  const owners = new Map(peek('select id, agent_id from subscription').map(({ id, agent_id: owner }) => [id, owner]))
  for (const { log_id: logId, message_id: messageId, agent_id: agentId, receipt, method } of rows) {
    const about = posts.filter(
      ({ subscriptionId, messageId: ofEvent, from, to }) =>
        ofEvent === messageId ||
        (owners.get(subscriptionId) === agentId && from <= Number(logId) && Number(logId) <= to),
    )
    const isProved = about.some((post) => isTaken(post) && post.type === 'wake/sent_to_me' && post.from === post.to)
    if (!wasHurt && isProved && (receipt === 'accepted' || receipt === 'routed')) {
      fail('a receipt says what was proved', `${logId} to ${agentId} is ${receipt}`)
    }
    if (receipt === 'written' && method === 'push' && !about.some((post) => post.isTaken)) {
      fail('no receipt says more than was proved', `${logId} to ${agentId}`)
    }
  }
}

/** What waits for a person was told to the one that has subscribed to it. */
async function checkNeeds(events: readonly Logged[], soon: Soon): Promise<void> {
  const { body } = await soon({ method: 'GET', path: '/v1/needs', key: adminKey })
  const open = new Set<string>()
  for (const { type, data } of events) {
    if (type === 'need.raised') open.add(data.need)
    if (type === 'need.cleared') open.delete(data.need)
  }
  // The trouble of a receiver that is over and comes back within minutes is told once.
  const lasting = body.needs.filter(({ kind }: { kind: string }) => !['failing', 'retrying', 'degraded'].includes(kind))
  for (const { id, kind } of lasting) if (!open.has(id)) fail('each need is told', `${kind} ${id}`)
}

/** The acts of recovery in the order of the log: that of their transactions. */
function checkRecovery(events: readonly Logged[], peek: Peek): void {
  const open = new Map<string, Logged>()
  const gates = new Map<string, GateStates>([['', { nudges: 'enabled', restarts: 'disabled' }]])
  const lives = peek(
    'select handle as agent, s.created_at, s.acted_at from session s join agent on agent.id = s.agent_id',
  )
  for (const event of events) {
    const { type, data } = event
    if (type === 'gate.changed') gates.set(data.agent ?? '', stated(data, gates.get('')!))
    // A pulse is for who watches the log: no gate that is closed lets it pass.
    const act = type === 'recovery.ordered' ? data.mode : type === 'heartbeat.pulse' ? 'nudge' : undefined
    if (act !== undefined) {
      const member = act === 'restart' ? 'restarts' : 'nudges'
      for (const gate of [gates.get(''), gates.get(data.agent)])
        if (gate && gate[member] !== 'enabled') fail('no act goes past a gate', `${data.agent} ${event.logId}`)
    }
    if (type === 'recovery.ordered') {
      if (open.has(data.agent)) fail('one act of recovery at a time', `${data.agent} ${event.logId}`)
      open.set(data.agent, event)
    }
    if (type !== 'recovery.ended') continue
    const order = open.get(data.agent)
    open.delete(data.agent)
    if (data.change !== 'abandoned' || data.mode !== 'restart' || !order) continue
    const since = Date.parse(order.data.since)
    const isAlive = (one: Row): boolean =>
      one.agent === data.agent &&
      Number(one.created_at) > since &&
      Number(one.acted_at) >= Number(one.created_at) &&
      Number(one.acted_at) < event.at
    if (lives.some(isAlive)) fail('a restart that worked is not abandoned', `${data.agent} ${event.logId}`)
  }
}

interface GateStates {
  readonly nudges: string
  readonly restarts: string
}

/** The event of an agent's gate has what holds: where its project's is closed, it does not tell of its own. */
function stated(
  { agent, nudges, restarts }: GateStates & { readonly agent?: string },
  project: GateStates,
): GateStates {
  const own = (said: string, ofProject: string): string => (agent && ofProject !== 'enabled' ? 'enabled' : said)
  return { nudges: own(nudges, project.nudges), restarts: own(restarts, project.restarts) }
}

/** Each mail was sent, or given up on record, or there is a reason on record why it was not. */
async function checkWakes(world: World, watch: Watch, events: readonly Logged[], soon: Soon): Promise<void> {
  const store = world.places
  for (const { id, due_at: dueAt } of store.peek(
    "select * from subscription where status = 'active' and due_at is not null",
  )) {
    fail('everything is sent in time', `${id} is due at ${dueAt}, now ${world.realm.wall}`)
  }
  const recorded = new Set(
    store.peek("select event_id as id from delivery where outcome = 'delivered'").map(({ id }) => id),
  )
  for (const { id, handle, width, posts, knownTo } of watch.subscriptions.values()) {
    const unrecorded = posts.find((post) => isTaken(post) && !recorded.has(post.eventId))
    // Of several in flight, what overtook one that has not arrived is sent again.
    if (unrecorded && !world.wasHurt && width === 1) fail('each wake is on record', `${id} ${unrecorded.eventId}`)
    const [row] = store.peek('select * from subscription where id = ?', id)
    if (!row) continue
    if (row.trigger !== 'SENT_TO_ME' || row.status !== 'active') continue
    const made = events.find(({ type, data }) => type === 'subscription.created' && data.subscriptionId === id)!
    const audience = store.peek(
      `select a.log_id from event_audience a join event e on e.log_id = a.log_id and e.project_id = a.project_id
        where audience = ? and trigger = 'SENT_TO_ME' and e.type = 'message.sent' and e.actor <> ? and e.log_id > ?
          and e.created_at >= ?`,
      String(row.agent_id),
      `@${handle}`,
      Math.max(made.logId, knownTo),
      Number(row.created_at),
    )
    const ended = store.peek(
      "select from_log_id, to_log_id from delivery where subscription_id = ? and outcome in ('failed', 'rejected')",
      id,
    )
    const missing = audience.filter(({ log_id: logId }) => {
      const at = Number(logId)
      const covers = ({ from, to }: { from: number; to: number }): boolean => from <= at && at <= to
      return (
        !posts.some((post) => post.isTaken && (isTaken(post) || post.answer === undefined) && covers(post)) &&
        !ended.some((one) => covers({ from: Number(one.from_log_id), to: Number(one.to_log_id) }))
      )
    })
    if (missing.length === 0) continue
    const answer = await soon({
      method: 'GET',
      path: `/v1/wake-subscriptions/${encodeURIComponent(id)}/held`,
      key: adminKey,
      query: { limit: '500' },
    })
    const held = new Set(answer.body.held.map(({ logId }: { logId: number }) => logId))
    for (const { log_id: logId } of missing) {
      if (held.has(Number(logId))) continue
      const about = events[Number(logId) - 1]
      fail(
        'everything that was accepted is sent, or there is a reason on record',
        `${id} of ${handle}: ${logId} ${JSON.stringify(about?.data)}`,
      )
    }
  }
}
