import type { Command } from 'commander'
import { exitCodes, isFault, Refused, Reported } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { AnswerOf } from '../../client/route-types.ts'
import { type ListName, type Status, statusText } from '../output/status-view.ts'
import { askingStates, asksState } from '../output/task-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { readable, readableSubscriptions, subscriptionsMax } from '../run/read-lists.ts'
import { readPages } from '../run/read-pages.ts'
import { lackText } from './health.ts'

const recoveryPagesMax = 10
const waitingShown = 5

/** `rouse status`: the gateway, and what needs a look, on one screen. Exits with 1 if the gateway is not ready. */
export function registerStatus(parent: Command, io: Io): void {
  clientCommand(parent, 'status', 'show on one screen whether the gateway is well, and what needs a person', [
    'rouse status',
    'rouse status --json | jq .waiting',
  ]).action(async (_options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const { lacks, version } = await readinessOf(gateway)
    const unread: ListName[] = []
    const noted = <Item>(name: ListName, list: Promise<Item[]>) =>
      list.catch((error): Item[] => {
        if (!isFault(error)) throw error
        unread.push(name)
        return []
      })
    const [subscriptions, recovery, [gate], waiting, [needs]] = await Promise.all([
      noted('subscriptions', readableSubscriptions(gateway)),
      noted('recovery', readRecovery(gateway)),
      noted('recovery', readGate(gateway)),
      noted('waiting', readWaiting(gateway)),
      noted('needs', readNeeds(gateway)),
    ])
    const { project, identity } = await whoOf(gateway)
    const found: Status = {
      gateway: { url: gateway.url, ready: lacks === undefined, lacks },
      version,
      unread,
      identity,
      project,
      subscriptions: {
        byStatus: countsOf(subscriptions.map(({ status }) => status)),
        more: subscriptions.length >= subscriptionsMax,
        unwell: subscriptions.filter(({ status, retrying }) => status === 'degraded' || retrying !== undefined),
      },
      gate,
      agents: recovery
        .filter((one) => one.parked !== null || isTripped(one.gate))
        .map(({ agent, parked, gate: own }) => ({ agent, parked, gate: own })),
      needs: needs && { counts: needs.counts, countsAtLeast: needs.countsAtLeast },
      ...waitingOf(waiting),
    }
    print.result(found, () => statusText(io, found))
    if (lacks !== undefined || unread.length > 0) throw new Reported(exitCodes.refused)
  })
}

type Gate = AnswerOf<'GET /v1/gate'>

function countsOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

const isTripped = ({ nudges, restarts }: Gate): boolean => nudges === 'tripped' || restarts === 'tripped'

/** Returns the version of the gateway, and the parts that it lacks; undefined: it is ready. */
async function readinessOf(gateway: GatewayClient): Promise<{ version: unknown; lacks?: string }> {
  try {
    const { version } = await gateway.request('GET', '/readyz')
    return { version }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const lacks = lackText(error).replace(/^: /, '') || 'it does not say what it lacks'
    return { version: error.problem.version, lacks }
  }
}

/** Errors: the key is refused, which is a fault of its own; not those of a store that is down. */
async function whoOf(gateway: GatewayClient): Promise<{ identity?: string; project?: string }> {
  try {
    return await gateway.call('GET /v1/whoami')
  } catch (error) {
    if (isFault(error)) return {}
    throw error
  }
}

const readRecovery = (gateway: GatewayClient) =>
  readable(
    readPages(
      (pageToken) => gateway.call('GET /v1/recovery', { query: { limit: 200, pageToken } }),
      (page) => page.recovery,
      recoveryPagesMax,
    ),
  )

const readGate = (gateway: GatewayClient) =>
  readable(gateway.call('GET /v1/gate', { query: {} }).then((gate) => [gate]))

const readNeeds = (gateway: GatewayClient) =>
  readable(gateway.call('GET /v1/needs', { query: { limit: 1 } }).then((needs) => [needs]))

/** The pages of the tasks that ask something and of those that nobody has begun, each with those that wait the longest. */
async function readWaiting(gateway: GatewayClient): Promise<AnswerOf<'GET /v1/tasks'>[]> {
  const query = { order: 'oldest', pageSize: waitingShown, historyLength: 1 } as const
  const lists = [...askingStates, 'submitted' as const].map((state) =>
    readable(gateway.call('GET /v1/tasks', { query: { ...query, state } }).then((page) => [page])),
  )
  return (await Promise.all(lists)).flat()
}

function waitingOf(pages: readonly AnswerOf<'GET /v1/tasks'>[]): Pick<Status, 'waiting' | 'waitingCount'> {
  const tasks = pages.flatMap((page) => page.tasks)
  // A task that asks has stopped.
  const place = ({ state, status }: (typeof tasks)[number]) => `${asksState(state) ? 0 : 1} ${status.timestamp}`
  tasks.sort((a, b) => place(a).localeCompare(place(b)))
  const waitingCount = pages.reduce((sum, { totalSize }) => sum + totalSize, 0)
  return { waiting: tasks.slice(0, waitingShown), waitingCount }
}
