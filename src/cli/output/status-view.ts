import type { Io } from '../../client/io.ts'
import type { AnswerOf, SubscriptionView, TaskSummaryView } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import { countsText } from './needs-view.ts'
import { paintState } from './state-colors.ts'
import { retryingText } from './subscription-view.ts'
import { fields, table } from './table.ts'
import { taskSubject } from './task-view.ts'
import { when } from './when.ts'

type Recovery = AnswerOf<'GET /v1/recovery'>['recovery'][number]

/** The lists that `rouse status` reads. */
export type ListName = 'subscriptions' | 'recovery' | 'waiting' | 'needs'

/** The findings of `rouse status`, which it prints with `--json`. Lists that the key may not read are empty. */
export interface Status {
  readonly gateway: { readonly url: string; readonly ready: boolean; readonly lacks?: string | undefined }
  /** Of the gateway, as it says. */
  readonly version: unknown
  /** The lists that the gateway could not read. They are empty here. */
  readonly unread: readonly ListName[]
  readonly identity?: string | undefined
  readonly project?: string | undefined
  readonly subscriptions: {
    /** Of the first 2,500. */
    readonly byStatus: Readonly<Record<string, number>>
    readonly more: boolean
    /** Degraded ones, and those whose receiver is away. */
    readonly unwell: readonly SubscriptionView[]
  }
  /** Of the project. */
  readonly gate?: AnswerOf<'GET /v1/gate'> | undefined
  /** Those that are parked, and those whose gate has tripped. */
  readonly agents: readonly Pick<Recovery, 'agent' | 'parked' | 'gate'>[]
  /** The needs, counted by their urgency. */
  readonly needs?: Pick<AnswerOf<'GET /v1/needs'>, 'counts' | 'countsAtLeast'> | undefined
  /** The tasks that have waited the longest: for an answer, then for a beginning. */
  readonly waiting: readonly TaskSummaryView[]
  readonly waitingCount: number
}

/** More are in `rouse sub list` and `rouse recovery list`. */
const rowsMax = 5

export function statusText(io: Io, status: Status): string {
  const { gateway, version, unread, identity, project, subscriptions, gate, needs, waiting, waitingCount } = status
  const unlessUnread = (name: ListName, text: string | undefined) =>
    unread.includes(name) ? 'unknown: the gateway cannot read it, and its log has the reason' : text
  const counts = Object.entries(subscriptions.byStatus).map(([name, count]) => `${count} ${name}`)
  if (subscriptions.more) counts.push('and more')
  const head =
    `${gateway.ready ? paintState(io, 'ready') : `${paintState(io, 'down')} (${plain(gateway.lacks)})`}  ${plain(gateway.url)}\n` +
    fields({
      version: typeof version === 'string' ? plain(version) : undefined,
      project,
      'this key': identity,
      subscriptions: unlessUnread('subscriptions', counts.join(', ') || 'none'),
      recovery: unlessUnread('recovery', gate && gateText(gate)),
      waiting: unlessUnread(
        'waiting',
        waitingCount === 0
          ? 'no task'
          : `${waitingCount} ${waitingCount === 1 ? 'task' : 'tasks'}, for an agent or for you`,
      ),
      'for you': unlessUnread('needs', needs && needsLine(needs)),
    })
  const parts = [unwellTable(io, subscriptions.unwell), agentTable(io, status), waitingTable(io, waiting)]
  return [head, ...parts.filter(Boolean)].join('\n')
}

function needsLine(needs: NonNullable<Status['needs']>): string {
  const counts = countsText(needs)
  return counts === '' ? 'nothing' : `${counts} (rouse needs)`
}

function gateText({ nudges, restarts, reason }: AnswerOf<'GET /v1/gate'>): string {
  return `nudges ${nudges}, restarts ${restarts}${reason ? ` (${reason})` : ''}`
}

function unwellTable(io: Io, unwell: readonly SubscriptionView[]): string {
  const rows = unwell
    .slice(0, rowsMax)
    .map((one) => [
      one.subscriptionId,
      one.agentIdentity,
      one.status === 'active' ? 'retrying' : one.status,
      [one.reason, one.retrying && retryingText(io, one.retrying)].filter(Boolean).join(', '),
    ])
  return listed(
    table(io, ['SUBSCRIPTION', 'AGENT', 'STATUS', 'WHY'], rows, '', ['SUBSCRIPTION']),
    unwell,
    'rouse sub list',
  )
}

/** An agent whose gate only says what the gate of the project says is not named for it. */
function agentTable(io: Io, { agents, gate }: Status): string {
  const rows = agents.flatMap(({ agent, parked, gate: own }) => {
    if (parked) {
      return [[agent, 'parked', `${parked.reason}, until ${parked.until ? when(io, parked.until) : 'a person acts'}`]]
    }
    return own.nudges === gate?.nudges && own.restarts === gate.restarts ? [] : [[agent, 'tripped', gateText(own)]]
  })
  const shown = table(io, ['AGENT', 'STATE', 'WHY'], rows.slice(0, rowsMax), '')
  return listed(shown, rows, 'rouse recovery list')
}

function waitingTable(io: Io, waiting: readonly TaskSummaryView[]): string {
  const rows = waiting.map((task) => {
    const { id, state, originator, assignee, status } = task
    const isNew = state === 'submitted'
    return [id, state, isNew ? assignee : originator, when(io, status.timestamp), taskSubject(task)]
  })
  const headings = ['TASK', 'STATE', 'WAITS FOR', 'SINCE', 'SUBJECT']
  return waiting.length === 0 ? '' : table(io, headings, rows, '')
}

function listed(shown: string, all: readonly unknown[], command: string): string {
  if (all.length === 0) return ''
  return all.length > rowsMax ? `${shown}${all.length - rowsMax} more: ${command}\n` : shown
}
