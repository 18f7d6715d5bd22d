import { Refused } from '../../client/failure.ts'

export type RunState = 'connecting' | 'connected' | 'left' | 'stopped'

/** The parts of its run that the state of an agent uses. */
interface StateParts {
  /** The name of the agent's profile. */
  readonly profile: string
  /** A line for the user about this agent. */
  readonly note: (text: string) => void
  /** Aborted when the run is over. */
  readonly over: AbortSignal
  /** Called once, when the run ends by itself. */
  readonly ended: () => void
}

/** The state of an agent's run: it is reached, or the reason why not. `left` and `stopped` are final. */
export class AgentState {
  readonly #parts: StateParts
  #state: RunState = 'connecting'
  #reason = ''
  #wantsKey = false

  constructor(parts: StateParts) {
    this.#parts = parts
  }

  get state(): RunState {
    return this.#state
  }

  /** In one line. Empty: connected, or not yet tried. */
  get reason(): string {
    return this.#reason
  }

  /** True when the run has ended because no agent may use the key of the profile now: with another key it could go on. */
  get wantsKey(): boolean {
    return this.#wantsKey
  }

  connected(): void {
    if (this.#state !== 'connected') this.#parts.note('connected')
    this.#state = 'connected'
    this.#reason = ''
  }

  /** The gateway is away. The next attempt may reach it. */
  connecting(error: unknown): void {
    const [reason = ''] = (error as Error).message.split('\n')
    if (this.#reason !== reason) this.#parts.note(`${reason} Trying again …`)
    this.#state = 'connecting'
    this.#reason = reason
  }

  /** The key is valid, but `identity` is not an agent. */
  notAnAgent(identity: string): void {
    this.#wantsKey = true
    this.end('stopped', `profile ${this.#parts.profile} has the key of ${identity}, which is no agent`)
  }

  /** The gateway refuses this agent, now and later. */
  refused(error: unknown): void {
    this.#wantsKey ||= isKeyRefused(error)
    this.end('stopped', isKeyRefused(error) ? this.#needsKey() : textOf(error))
  }

  /** The gateway refuses a report. Only a refused key proves something about the agent. */
  reportRefused(error: unknown): void {
    if (isKeyRefused(error)) this.refused(error)
    else this.#parts.note(`The gateway refuses a report: ${textOf(error)}`)
  }

  /** Ends the run until a restart. The first end counts. */
  end(state: 'left' | 'stopped', reason: string): void {
    if (this.#parts.over.aborted || this.#state === 'left' || this.#state === 'stopped') return
    this.#state = state
    this.#reason = reason
    this.#parts.note(reason)
    this.#parts.ended()
  }

  #needsKey(): string {
    const { profile } = this.#parts
    return `its key is not valid any more. It goes on when its profile has another one: rouse login --profile ${profile}`
  }
}

const isKeyRefused = (error: unknown): boolean => error instanceof Refused && error.problem.status === 401

function textOf(error: unknown): string {
  return error instanceof Refused ? error.explanation : (error as Error).message
}
