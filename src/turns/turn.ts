import { newUlid } from '../lib/ids.ts'
import type { LogEvent } from '../log/event.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import type { RecoverySettings } from '../registry/recovery/gate.ts'
import { int, json, type NounOf, nullable, text, word } from '../storage/columns.ts'
import type { ReachedCap } from './facts.ts'
import type { Act } from './rule.ts'

/** The end of a turn, as far as its program reports it. */
export const turnOutcomes = ['completed', 'failed', 'held', 'unknown'] as const
export type TurnOutcome = (typeof turnOutcomes)[number]
/** The end of a turn that a cap did not let begin. The gateway alone reports it. */
export const withheld = 'withheld'

/** The cost of a turn, from the record of its harness: never from the words of its model. */
export interface TurnCost {
  readonly model?: string | undefined
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly durationMs?: number | undefined
}

/** The senders and the thread of a turn. */
export interface Parties {
  /** Handles; none: of nobody in particular, or of too many. */
  readonly senders: readonly string[]
  readonly threadId: string | null
}

/** The parties of a turn that is about nobody's mail in particular. */
export const nobody: Parties = { senders: [], threadId: null }

export const turnFields = {
  id: text,
  projectId: text,
  agentId: text,
  act: word<Act>(),
  /** The target of its wake, or the harness that a program started. */
  route: text,
  subscriptionId: nullable(text),
  eventId: nullable(text),
  /** The events that its wake covers: inclusive; null: none. */
  fromLogId: nullable(int),
  toLogId: nullable(int),
  senders: json<readonly string[]>(),
  threadId: nullable(text),
  startedAt: int,
  outcome: nullable(word<TurnOutcome | typeof withheld>()),
  /** Of one that is withheld: the cap. */
  detail: nullable(text),
  /** Of one that is withheld: when it may begin. */
  endedAt: nullable(int),
  /** Its cost, as the harness reports it. */
  cost: nullable(json<TurnCost>()),
}
/** A turn that was begun, or a process that was started, whatever its end. Instants in ms since the epoch. */
export type Turn = NounOf<typeof turnFields>

/** The facts about a turn when it begins. */
type NewTurn = Pick<Turn, 'projectId' | 'agentId' | 'act' | 'route' | 'senders' | 'threadId'> & {
  readonly [Field in 'subscriptionId' | 'eventId' | 'fromLogId' | 'toLogId']?: Turn[Field] | undefined
}

/** A turn that begins now. */
export function newTurn({ subscriptionId, eventId, fromLogId, toLogId, ...turn }: NewTurn, now: number): Turn {
  return {
    ...turn,
    id: newUlid(now),
    subscriptionId: subscriptionId ?? null,
    eventId: eventId ?? null,
    fromLogId: fromLogId ?? null,
    toLogId: toLogId ?? null,
    startedAt: now,
    outcome: null,
    detail: null,
    endedAt: null,
    cost: null,
  }
}

/** The record that a cap withholds a turn: there is one for each cap until its window opens. */
export function withheldTurn(turn: NewTurn, { cap, until }: ReachedCap, now: number): Turn {
  return { ...newTurn(turn, now), outcome: withheld, detail: cap, endedAt: until }
}

/** How many senders of a digest are noted. */
const sendersMax = 20

/** The senders and the thread of events: those who caused them, and the thread if it is one. Pure. */
export function partiesOf(events: readonly Pick<LogEvent, 'actor' | 'taskId' | 'data'>[]): Parties {
  const senders = new Set(events.map(({ actor }) => actor).filter((actor) => actor !== gatewayIdentity))
  const threads = new Set(events.map(({ taskId, data }) => taskId ?? String(data.threadId ?? data.messageId ?? '')))
  const [threadId = ''] = threads.size === 1 ? threads : []
  return { senders: [...senders].slice(0, sendersMax), threadId: threadId || null }
}

/** Returns the settings that hold for a route. A route that starts a process for each wake has a cap where nobody has set one. Pure. */
export function capsOf(settings: RecoverySettings, route: string): RecoverySettings {
  if (route !== 'exec' || settings.turnsPerHour > 0) return settings
  return { ...settings, turnsPerHour: execTurnsPerHour }
}

/** Loops of two agents that answer each other end here, where nobody has set a cap. */
const execTurnsPerHour = 60
const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** By how much the clock of the gateway that has booked a turn may be ahead. */
const differenceMs = 10_000

/** The caps, each with the setting that bounds it and whose turns it counts. */
const caps = [
  { cap: 'agent', setting: 'turnsPerHour', windowMs: hourMs },
  { cap: 'agent', setting: 'turnsPerDay', windowMs: dayMs },
  { cap: 'sender', setting: 'senderTurnsPerHour', windowMs: hourMs },
  { cap: 'sender', setting: 'senderTurnsPerDay', windowMs: dayMs },
  { cap: 'thread', setting: 'threadTurnsPerHour', windowMs: hourMs },
  { cap: 'thread', setting: 'threadTurnsPerDay', windowMs: dayMs },
] as const satisfies readonly { cap: ReachedCap['cap']; setting: keyof RecoverySettings; windowMs: number }[]

/** True: a person has set a cap, so that the account is to be read before a turn. Pure. */
export const hasCaps = (settings: RecoverySettings): boolean => caps.some(({ setting }) => settings[setting] > 0)

/**
 * Returns the cap that is reached by the turns of an agent, the one that lasts longest; null: none is. `recent`: its turns of a day, newest
 * first. A turn for several senders waits only if all of them have reached theirs. Pure.
 */
export function reachedCap(
  settings: RecoverySettings,
  recent: readonly Pick<Turn, 'startedAt' | 'senders' | 'threadId' | 'outcome'>[],
  { senders, threadId }: Parties,
  now: number,
): ReachedCap | null {
  const reached = caps.flatMap(({ cap, setting, windowMs }): ReachedCap[] => {
    const max = settings[setting]
    if (max === 0) return []
    const within = recent.filter(
      ({ startedAt, outcome }) => outcome !== withheld && startedAt > now - windowMs && startedAt <= now + differenceMs,
    )
    const counted =
      cap === 'agent'
        ? [within]
        : cap === 'thread'
          ? threadId === null
            ? []
            : [within.filter((turn) => turn.threadId === threadId)]
          : senders.map((sender) => within.filter((turn) => turn.senders.includes(sender)))
    // The turn that has to leave the window before another one may begin.
    const opens = counted.map((turns) => (turns[max - 1] ? turns[max - 1]!.startedAt + windowMs : now))
    const until = Math.min(...opens)
    return counted.length > 0 && until > now ? [{ cap, until }] : []
  })
  return reached.sort((one, other) => other.until - one.until)[0] ?? null
}
