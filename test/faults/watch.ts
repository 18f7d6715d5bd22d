import { expect } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import type { ProcessAgent, ProcessClient } from '../support/process-client.ts'
import { readLog } from '../support/process-ledger.ts'
import { until } from '../support/until.ts'
import { account, accountPushes, type Row } from './account.ts'
import type { Inbox } from './inbox.ts'
import { printLedger } from './ledger.ts'

/** A subscription that the rig keeps the books of. */
export interface Watch {
  readonly name: string
  readonly id: string
  readonly agent: ProcessAgent
  readonly trigger: 'TASK_STATE_CHANGED' | 'SENT_TO_ME'
  readonly priority: string | undefined
  readonly inOrder: boolean
}

interface WatchInput {
  trigger?: Watch['trigger']
  priority?: string
  metadata?: JsonObject
}

/** Subscribes at a path of the receiver that is the subscription's own. */
export async function watch(
  client: ProcessClient,
  agent: ProcessAgent,
  receiverUrl: string,
  name: string,
  { trigger = 'TASK_STATE_CHANGED', priority, metadata = {} }: WatchInput = {},
): Promise<Watch> {
  const filters: JsonObject = priority === undefined ? {} : { priority }
  const { id } = await client.subscribe(agent, receiverUrl + name.replaceAll(/\W+/g, '-'), {
    trigger,
    filters,
    // Everything in the log must arrive, an agent's own moves too.
    metadata: { includeOwn: true, ...metadata },
  })
  return { name, id, agent, trigger, priority, inOrder: metadata.maxInFlight === undefined }
}

interface Books {
  readonly client: ProcessClient
  readonly inbox: Inbox
  readonly watches: readonly Watch[]
  /** Tasks that came with a push config. */
  readonly pushed?: ReadonlySet<string>
}

/** Waits until every accepted event has arrived or failed, prints the account, and fails if it does not balance. */
export async function balance(
  title: string,
  books: Books,
  notes: readonly string[] = [],
  timeoutMs = 120_000,
): Promise<Row[]> {
  const deadline = Date.now() + timeoutMs
  let rows = await takeStock(books)
  while (rows.some(({ faults }) => faults.length > 0) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    rows = await takeStock(books)
  }
  printLedger(title, rows, notes)
  expect(rows.flatMap(({ subscription, faults }) => faults.map((fault) => `${subscription}: ${fault}`))).toEqual([])
  await recordsAgree(books)
  return rows
}

async function takeStock({ client, inbox, watches, pushed = new Set() }: Books): Promise<Row[]> {
  const logs = new Map<string, LogEntry[]>()
  for (const { key } of watches.map(({ agent }) => agent)) if (!logs.has(key)) logs.set(key, await readLog(client, key))
  const rows: Row[] = []
  for (const watched of watches) {
    const logIds = logs
      .get(watched.agent.key)!
      .filter((entry) => matches(watched, entry))
      .map(({ logId }) => logId)
    const failed = await givenUp(client, watched, logIds)
    const row = account({ subscription: watched.name, logIds, failed, inOrder: watched.inOrder }, inbox.of(watched.id))
    const { body } = await client.call('GET', `/v1/wake-subscriptions/${watched.id}`)
    const idle = body.status === 'active' ? [] : [`it is ${body.status}: ${body.reason}`]
    rows.push({ ...row, faults: [...idle, ...row.faults] })
  }
  if (pushed.size > 0) rows.push(accountPushes(statesOf(await readLog(client), pushed), inbox.pushes))
  return rows
}

type LogEntry = Awaited<ReturnType<typeof readLog>>[number]

const types = { TASK_STATE_CHANGED: 'task.state_changed', SENT_TO_ME: 'message.sent' }

function matches({ trigger, priority, agent }: Watch, { type, data }: LogEntry): boolean {
  if (type !== types[trigger] || (priority !== undefined && data.priority !== priority)) return false
  return trigger !== 'SENT_TO_ME' || data.from !== agent.handle
}

function statesOf(log: readonly LogEntry[], tasks: ReadonlySet<string>): Map<string, string[]> {
  const states = new Map<string, string[]>([...tasks].map((id) => [id, []]))
  for (const { type, data } of log) {
    if (type === 'task.state_changed') states.get(String(data.taskId))?.push(String(data.newState))
  }
  return states
}

/** The events that the gateway has recorded as failed. */
async function givenUp(client: ProcessClient, watched: Watch, logIds: readonly number[]): Promise<Set<number>> {
  const failed = new Set<number>()
  for (const { outcome, logIds: range } of await readDeliveries(client, watched.id)) {
    if (outcome !== 'failed') continue
    for (const logId of logIds) if (range[0]! <= logId && logId <= range.at(-1)!) failed.add(logId)
  }
  return failed
}

/** In the end the record of each subscription says what its receiver says, of the newest deliveries. */
async function recordsAgree({ client, inbox, watches }: Books): Promise<void> {
  for (const { id, name } of watches) {
    const arrived = new Set(inbox.of(id).map(({ eventId }) => eventId))
    // A sweep removes the older records. What has arrived is known for all of them.
    const kept = [...arrived].sort().slice(-1_000)
    const differences = async () => {
      const recorded = new Map((await readDeliveries(client, id)).map((record) => [record.eventId, record]))
      const unrecorded = kept.filter((eventId) => recorded.get(eventId)?.outcome !== 'delivered')
      const unheard = [...recorded.values()].filter((one) => one.outcome === 'delivered' && !arrived.has(one.eventId))
      return [
        ...unrecorded.map(
          (eventId) => `${name}: ${eventId} arrived, its record is ${JSON.stringify(recorded.get(eventId))}`,
        ),
        ...unheard.map(({ eventId }) => `${name}: ${eventId} is on record as delivered, and never came`),
      ]
    }
    await until(differences, (found) => found.length === 0, 15_000)
  }
}

interface DeliveryRecord {
  readonly eventId: string
  readonly outcome: string
  readonly logIds: readonly number[]
  readonly eventCount: number
  readonly attempts: readonly { status: number | null; error: string | null }[]
}

/** The whole record of a subscription, newest first. */
export async function readDeliveries(client: ProcessClient, id: string): Promise<DeliveryRecord[]> {
  const deliveries: DeliveryRecord[] = []
  for (let pageToken = ''; ; ) {
    const page = `limit=500${pageToken && `&pageToken=${pageToken}`}`
    const { status, body } = await client.call('GET', `/v1/wake-subscriptions/${id}/deliveries?${page}`)
    if (status !== 200) throw new Error(`deliveries: ${JSON.stringify(body)}`)
    deliveries.push(...body.deliveries)
    if (!body.nextPageToken) return deliveries
    pageToken = body.nextPageToken
  }
}
