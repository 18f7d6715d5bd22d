import { int, type NounOf, nullable, text, word } from '../../storage/columns.ts'

/** The strictest comes last. */
const strictness = { enabled: 0, disabled: 1, tripped: 2 } as const

/** The permission of recovery to act. `tripped`: it stopped by itself, and a person looks first. Source: S3-10. */
export type GateState = keyof typeof strictness

/** The times and bounds of recovery, each in the unit of its name. */
export interface RecoverySettings {
  /** How long an agent with a reason to act is silent before it is stale. */
  readonly staleAfterSeconds: number
  /** How long an act may take until its agent's first sign of life. Source: S3-9. */
  readonly bootTimeoutSeconds: number
  /** Acts in a row without a sign of life, after which the gate trips. */
  readonly abandonedMax: number
  readonly restartsPerHour: number
  readonly nudgesPerHour: number
  /** How long a turn counts as open whose end nobody reports. */
  readonly turnOpenMaxSeconds: number
  /** Above this size of a conversation a nudge waits: a turn there costs much. 0: no bound. */
  readonly maxContextTokens: number
  /** Caps of turns: of the agent, for each sender, and for each thread. 0: none. */
  readonly turnsPerHour: number
  readonly turnsPerDay: number
  readonly senderTurnsPerHour: number
  readonly senderTurnsPerDay: number
  readonly threadTurnsPerHour: number
  readonly threadTurnsPerDay: number
}

export const settingDefaults: RecoverySettings = {
  staleAfterSeconds: 600,
  bootTimeoutSeconds: 900,
  abandonedMax: 3,
  restartsPerHour: 3,
  nudgesPerHour: 6,
  turnOpenMaxSeconds: 3_600,
  maxContextTokens: 0,
  turnsPerHour: 0,
  turnsPerDay: 0,
  senderTurnsPerHour: 0,
  senderTurnsPerDay: 0,
  threadTurnsPerHour: 0,
  threadTurnsPerDay: 0,
}

export const gateFields = {
  projectId: text,
  /** `''`: the project. */
  agentId: text,
  nudges: word<GateState>(),
  restarts: word<GateState>(),
  reason: nullable(text),
  changedBy: text,
  since: int,
  settings: nullable(text),
}
/** The acts recovery may do in a project, or for an agent of it. */
export type Gate = Omit<NounOf<typeof gateFields>, 'settings'> & { readonly settings: Partial<RecoverySettings> }

/** The acts recovery may do for an agent, and why. */
export interface EffectiveGate {
  readonly nudges: GateState
  readonly restarts: GateState
  readonly reason: string | null
  readonly since: number | null
  readonly settings: RecoverySettings
}

/**
 * Joins the gates of a project and of an agent: the stricter one holds, and the settings of the agent come first. A project whose gate is
 * missing or cannot be read is tripped. Pure. Source: S3-10.
 */
export function effectiveGate(project: Gate | undefined, agent: Gate | undefined): EffectiveGate {
  if (!project) {
    const reason = 'The gate of the project is missing.'
    return { nudges: 'tripped', restarts: 'tripped', reason, since: null, settings: settingDefaults }
  }
  const settings = { ...settingDefaults, ...project.settings, ...agent?.settings }
  const nudges = stricter(project.nudges, agent?.nudges)
  const restarts = stricter(project.restarts, agent?.restarts)
  const decides = agent && agent.nudges === nudges && agent.restarts === restarts ? agent : project
  return { nudges, restarts, reason: decides.reason, since: decides.since, settings }
}

/** An unknown word counts as tripped. */
function stricter(one: GateState, other: GateState = 'enabled'): GateState {
  const known = (state: GateState): GateState => (state in strictness ? state : 'tripped')
  return strictness[known(one)] >= strictness[known(other)] ? known(one) : known(other)
}
