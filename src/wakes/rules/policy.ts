import type { WakePolicy } from '../../words/policies.ts'
import type { Presence, PresenceState } from '../../words/presence.ts'
import { type HarnessTarget, type RouteKind, targets } from '../../words/targets.ts'

/** A way to a harness, and what the harness can do with a wake. */
export interface Route {
  readonly kind: RouteKind
  /** Begins a turn in an idle harness. */
  readonly canStartTurn: boolean
  /** Starts a process of its own for each wake: there is no turn that it could disturb. Source: D34. */
  readonly spawns: boolean
  /** Adds to a running turn, guarded by its id. */
  readonly canSteer: boolean
  /** Adds to the context and touches neither the prompt nor an approval. */
  readonly appendOnly: boolean
}

type WakeAction = 'deliver' | 'steer' | 'hold_for_next_turn' | 'store_only'

/** Each action with its possible reasons: one word for each cell of the table. */
const reasons = {
  deliver: ['receiver_decides', 'starts_turn', 'starts_process', 'append_only'],
  steer: ['steers_turn'],
  hold_for_next_turn: [
    'next_turn',
    'no_route',
    'presence_unknown',
    'cannot_start_turn',
    'turn_active',
    'waiting_on_approval',
    'user_typing',
  ],
  store_only: ['silent', 'own_act'],
} as const satisfies Record<WakeAction, readonly string[]>

/** The act for an event that a subscription matches, and its reason. */
export type Decision = { readonly [A in WakeAction]: { action: A; reason: (typeof reasons)[A][number] } }[WakeAction]

/** A line of a cell. The first one that applies decides; the last one always applies. */
type Rule = Decision & { readonly where?: (route: Route, activeTurnId: string | null) => boolean }

const deliver: Rule = { action: 'deliver', reason: 'receiver_decides' }
const noRoute: Rule = { action: 'hold_for_next_turn', reason: 'no_route' }
const spawns: Rule = { action: 'deliver', reason: 'starts_process', where: (route) => route.spawns }
const starts: Rule = { action: 'deliver', reason: 'starts_turn', where: (route) => route.canStartTurn }
const appends: Rule = { action: 'deliver', reason: 'append_only', where: (route) => route.appendOnly }
const steers: Rule = {
  action: 'steer',
  reason: 'steers_turn',
  where: (route, activeTurnId) => route.canSteer && activeTurnId !== null,
}
const steersBeside: Rule = {
  ...steers,
  where: (route, activeTurnId) => route.appendOnly && route.canSteer && activeTurnId !== null,
}

type Cell = readonly [...Rule[], Rule]

/** The acts of `immediate` on each route in each state. Source: S1-9…S1-13, S1-18…S1-21, D6. */
const immediate = {
  webhook: always(deliver),
  'mcp-notifications': always(deliver),
  bridge: {
    unknown: [spawns, appends, { action: 'hold_for_next_turn', reason: 'presence_unknown' }],
    idle: [spawns, starts, appends, { action: 'hold_for_next_turn', reason: 'cannot_start_turn' }],
    active: [spawns, steers, appends, { action: 'hold_for_next_turn', reason: 'turn_active' }],
    waitingOnApproval: [spawns, steersBeside, appends, { action: 'hold_for_next_turn', reason: 'waiting_on_approval' }],
    userTyping: [spawns, { action: 'hold_for_next_turn', reason: 'user_typing' }],
  },
  none: always(noRoute),
} as const satisfies Record<RouteKind, Record<PresenceState, Cell>>

/** The acts of each policy on each route in each state. Priority has no part in it. Source: S1-15, S1-16. */
const table: Record<WakePolicy, Record<RouteKind, Record<PresenceState, Cell>>> = {
  silent: onEveryRoute({ action: 'store_only', reason: 'silent' }),
  next_turn: onEveryRoute({ action: 'hold_for_next_turn', reason: 'next_turn' }),
  immediate,
}

/** Decides what happens to an event by its sender's policy, the route and the harness's presence. Pure. */
export function decide(
  wakePolicy: WakePolicy,
  route: Route,
  { state, activeTurnId }: Pick<Presence, 'state' | 'activeTurnId'>,
): Decision {
  const cell = table[wakePolicy][route.kind][state]
  const rule = cell.find(({ where }) => where === undefined || where(route, activeTurnId)) ?? cell.at(-1)!
  return { action: rule.action, reason: rule.reason } as Decision
}

/** The decision on an event that the subscription's own agent caused. Source: D17. */
export const ownAct: Decision = { action: 'store_only', reason: 'own_act' }

/** True when an action reaches the harness now. */
export const isWake = ({ action }: Decision): boolean => action === 'deliver' || action === 'steer'

/** Returns the route to a target, with what its stream and its session report that the harness can do: `turn/start`, `turn/steer`, `append-only`. */
export function routeOf(target: HarnessTarget, capabilities: readonly string[] = []): Route {
  return {
    kind: targets[target].route,
    canStartTurn: capabilities.includes('turn/start'),
    spawns: capabilities.includes('spawn'),
    canSteer: capabilities.includes('turn/steer'),
    appendOnly: capabilities.includes('append-only'),
  }
}

function always(rule: Rule): Record<PresenceState, Cell> {
  return { unknown: [rule], idle: [rule], active: [rule], waitingOnApproval: [rule], userTyping: [rule] }
}

function onEveryRoute(rule: Rule): Record<RouteKind, Record<PresenceState, Cell>> {
  const cells = always(rule)
  return { webhook: cells, 'mcp-notifications': cells, bridge: cells, none: cells }
}
