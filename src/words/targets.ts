export const routeKinds = ['webhook', 'mcp-notifications', 'bridge', 'none'] as const
/** How a wake reaches a harness: a receiver with rules of its own, a bridge that reaches into the harness, or not at all. */
export type RouteKind = (typeof routeKinds)[number]

/** The requirements and abilities of one harness target. */
interface Target {
  readonly route: RouteKind
  /** True when presence decides what is done with an event. Then the decision is made once, when the event is appended. */
  readonly isGated: boolean
  /** True when a subscription gets a signing key when it is made. */
  readonly isSigned: boolean
  /** True when this gateway sends to it: then `Channels` must have a channel of this name. Else the cursor waits for one. */
  readonly hasChannel: boolean
  /** True when its receiver connects to the gateway: until it does, the subscription is `waiting`. Source: D28. */
  readonly connects: boolean
  /** The proof of a send that succeeds: that the receiver has it, or that it was written to a connection. Source: D14. */
  readonly evidence: 'delivered' | 'written' | null
  /**
   * True when a client makes and refreshes the subscription and decides its settings: nobody chooses the target by hand. It is no route among
   * the others of its agent: it gets all that its client has chosen.
   */
  readonly isOfClient: boolean
  /** True when the receiver stores the cursor. Each event is sent alone, with a cursor that the receiver may store, and a gap is reported. */
  readonly keepsCursor: boolean
  /** True when its receiver refuses event by event: no refusal degrades the subscription. */
  readonly refusesByEvent: boolean
  /** The fields of `harnessTargetMetadata` that it cannot do without, each with what it is for. */
  readonly needs: { readonly [Field in 'url' | 'daemonSocketPath']?: string }
}

/** The properties that all targets have which an agent or an operator may choose. */
const own = { isOfClient: false, keepsCursor: false, refusesByEvent: false } as const
const unsent = {
  ...own,
  route: 'none',
  isGated: false,
  isSigned: false,
  hasChannel: false,
  connects: false,
  evidence: null,
  needs: {},
} as const

/** Everything that depends on a harness target, and is not a channel's own code, is decided here. Source: S1-4, S1-43. */
export const targets = {
  'mcp-notifications': {
    ...own,
    route: 'mcp-notifications',
    isGated: false,
    isSigned: false,
    hasChannel: true,
    connects: true,
    evidence: 'written',
    needs: {},
  },
  'a2a-webhook': {
    ...own,
    route: 'webhook',
    isGated: false,
    isSigned: true,
    hasChannel: true,
    connects: false,
    evidence: 'delivered',
    needs: { url: 'the address to POST wakes to' },
  },
  'bridge-daemon': {
    ...own,
    route: 'bridge',
    isGated: true,
    isSigned: true,
    hasChannel: true,
    connects: true,
    evidence: 'delivered',
    needs: {},
  },
  // A webhook of a client of MCP. Its key is the client's.
  'mcp-webhook': {
    route: 'webhook',
    isGated: false,
    isSigned: false,
    hasChannel: true,
    connects: false,
    evidence: 'delivered',
    isOfClient: true,
    keepsCursor: true,
    refusesByEvent: true,
    needs: {},
  },
  disabled: unsent,
  none: unsent,
} as const satisfies Record<string, Target>

/** How a subscription's wakes are sent. It never changes by itself. Source: S1-43, D1. */
export type HarnessTarget = keyof typeof targets

/** A target that this gateway sends to. */
export type DeliverableTarget = {
  [Name in HarnessTarget]: (typeof targets)[Name]['hasChannel'] extends true ? Name : never
}[HarnessTarget]

export const harnessTargets = Object.keys(targets) as [HarnessTarget, ...HarnessTarget[]]
/** The targets that whoever makes a subscription may name. */
export type ChosenTarget = {
  [Name in HarnessTarget]: (typeof targets)[Name]['isOfClient'] extends true ? never : Name
}[HarnessTarget]
export const chosenTargets = harnessTargets.filter((target) => !targets[target].isOfClient) as [
  ChosenTarget,
  ...ChosenTarget[],
]
export const deliverableTargets: readonly DeliverableTarget[] = harnessTargets.filter(isDeliverable)
/** The targets whose receiver connects to the gateway. */
export const connectingTargets: readonly HarnessTarget[] = harnessTargets.filter((target) => targets[target].connects)
export const gatedTargets: readonly HarnessTarget[] = harnessTargets.filter((target) => targets[target].isGated)

/** True when this gateway sends to a target. */
export function isDeliverable(target: HarnessTarget): target is DeliverableTarget {
  return targets[target].hasChannel
}

/** True: its receiver begins a turn for a wake, as far as a target says. A notification of MCP begins none in most harnesses. */
export const beginsTurns = (target: HarnessTarget): boolean =>
  !targets[target].isOfClient && (targets[target].route === 'webhook' || targets[target].route === 'bridge')

/** A target whose receiver connects to the gateway. */
export type ConnectingTarget = {
  [Name in HarnessTarget]: (typeof targets)[Name]['connects'] extends true ? Name : never
}[HarnessTarget]

/** Returns what a subscription that is wanted is: `waiting` where nothing is connected for its target. Source: D28. */
export function liveStatus(target: HarnessTarget, streamId: string | null): 'active' | 'waiting' {
  return targets[target].connects && streamId === null ? 'waiting' : 'active'
}

/** Coalescing in seconds when a subscription does not say. Source: S1-39, D3. */
export const coalesceWindowDefault = 30
export const coalesceWindowMax = 300

/** The longest `retryForSeconds`: three days. Source: D31. */
export const retryForMax = 259_200
/** How long the programs of Rouse have the gateway try a failing wake again, in seconds: six hours, as long as a model or a login may be away. */
export const retryForOfPrograms = 21_600
