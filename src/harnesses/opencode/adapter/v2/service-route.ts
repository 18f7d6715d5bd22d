import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { HarnessSession, OutgoingWake, WakeEnd, WakeTools } from '../../../../bridge/adapter.ts'
import { getFrom, sendTo } from '../http/call.ts'
import { type HarnessEvent, openFeed } from '../http/event-feed.ts'
import { messageIdOf } from '../message-id.ts'
import { heldBy } from '../v1/activity.ts'
import { startedProcess } from '../v1/servers.ts'
import type { V2Service } from './service.ts'

/** The name of this way in the journal and in `HarnessSession.route`. */
export const serviceRoute = 'service'

const listed = z.object({
  data: z.array(z.object({ id: z.string(), parentID: z.string().nullish(), location: z.unknown() })),
})
const active = z.object({ data: z.record(z.string(), z.unknown()) })
const sessionsMax = 20

/** The conversations of the service in one directory. Errors: it does not answer. */
export async function serviceSessions(
  { address, pid }: V2Service,
  directory: string,
  signal: AbortSignal,
): Promise<HarnessSession[]> {
  const query = new URLSearchParams({ directory, limit: String(sessionsMax), order: 'desc' })
  const answer = await getFrom(address, `/api/session?${query}`, signal)
  const running = await runningOf(address, signal)
  return listed
    .parse(answer.body)
    .data.filter(({ parentID }) => !parentID)
    .map(({ id }) => ({
      harness: 'opencode',
      conversationId: id,
      cwd: directory,
      process: startedProcess(pid),
      state: running.has(id) ? 'active' : 'idle',
      route: serviceRoute,
    }))
}

/** An idle conversation is not in the list. An open approval is part of a running turn. */
async function runningOf(address: V2Service['address'], signal: AbortSignal): Promise<ReadonlySet<string>> {
  const answer = await getFrom(address, '/api/session/active', signal)
  return new Set(Object.keys(active.parse(answer.body).data))
}

/** OpenCode 2 begins a turn of an idle conversation at once. */
const beginMaxMs = 30_000

/**
 * Puts a wake into the inbox of a conversation, where it waits for the running turn. OpenCode accepts each id once, so the wake may be
 * sent again. Errors: the signal aborts.
 */
export async function wakeByService(
  { address }: V2Service,
  conversationId: string,
  wake: OutgoingWake,
  tools: WakeTools,
): Promise<WakeEnd> {
  const id = messageIdOf(wake.id)
  const steps = new InboxSteps(conversationId, id)
  using feed = openFeed(address, '/api/event', (event) => steps.take(event))
  await feed.opened
  try {
    const isRunning = (await runningOf(address, tools.signal)).has(conversationId)
    if (isRunning) return heldBy('active')!
  } catch (error) {
    tools.signal.throwIfAborted()
    const detail = `Its state cannot be read: ${(error as Error).message}.`
    return { step: 'held', detail, reason: 'presence_unknown' }
  }
  await tools.handingOver(serviceRoute)
  tools.signal.throwIfAborted()
  const body = { id, text: wake.lines, delivery: 'queue' }
  const { status } = await sendTo(address, 'POST', `/api/session/${encodeURIComponent(conversationId)}/prompt`, body)
  if (status === 404)
    return { step: 'misaddressed', detail: `OpenCode has no conversation ${conversationId} any more.` }
  // OpenCode has accepted this id before, and its outcome was reported then.
  if (status === 409) return { step: 'written', detail: 'OpenCode has admitted it before (ConflictError).' }
  if (status < 200 || (status >= 300 && status < 400) || status >= 500)
    return { step: 'unknown', detail: `OpenCode answered the prompt with HTTP ${status}.` }
  if (status >= 400)
    return { step: 'failed', detail: `OpenCode refused the prompt with HTTP ${status}.`, isUntouched: true }
  tools.report('accepted', 'OpenCode has put it into the inbox.')
  return await steps.end(tools.signal)
}

/** The proofs of the events of the service about one prompt. */
class InboxSteps {
  readonly #conversationId: string
  readonly #id: string
  #isDelivered = false
  #isRunning = false
  #noteBegun = () => {}
  readonly #begun = new Promise<void>((resolve) => {
    this.#noteBegun = resolve
  })

  constructor(conversationId: string, id: string) {
    this.#conversationId = conversationId
    this.#id = id
  }

  take({ type, properties }: HarnessEvent): void {
    if (properties.sessionID !== this.#conversationId) return
    const isOwn = [properties.id, properties.inboxID].includes(this.#id)
    if (type === 'session.inbox.delivered' && isOwn) this.#isDelivered = true
    if (/^session\.(execution|step)\.started$/.test(type)) this.#isRunning = true
    // Only both: that a turn runs says nothing about whose it is.
    if (this.#isDelivered && this.#isRunning) this.#noteBegun()
  }

  async end(signal: AbortSignal): Promise<WakeEnd> {
    const waited = new AbortController()
    const options = { signal: AbortSignal.any([signal, waited.signal]) }
    const late = delay(beginMaxMs, 'late' as const, options).catch(() => 'late' as const)
    const outcome = await Promise.race([this.#begun, late])
    waited.abort()
    signal.throwIfAborted()
    if (outcome === undefined) return { step: 'turn_started', detail: 'session.execution.started' }
    if (this.#isDelivered) return { step: 'delivered', detail: 'session.inbox.delivered' }
    return { step: 'written', detail: 'It is in the inbox of the conversation.' }
  }
}

/** Looks what became of a prompt. `absent`: the inbox does not have it; sent again, its id keeps it from a second turn. Errors: no answer. */
export async function findByService(
  { address }: V2Service,
  conversationId: string,
  wakeId: string,
  signal: AbortSignal,
): Promise<'waits' | 'absent' | 'unknown'> {
  const path = `/api/session/${encodeURIComponent(conversationId)}/inbox/${messageIdOf(wakeId)}`
  const { status } = await getFrom(address, path, signal)
  if (status === 200) return 'waits'
  return status === 404 ? 'absent' : 'unknown'
}
