import type { PresenceState } from '../../../words/presence.ts'

/** The turn of a wake of ours. */
interface OwnTurn {
  readonly wakeId: string
  /** The agent has shown that it works on it. */
  hasBegun: boolean
  /** Version 2: the agent has put the message into its history. */
  isInHistory: boolean
  /** The editor has requested its end. */
  isCancelled: boolean
}

/** The state of one session, as the messages between editor and agent show it. */
export class AcpSession {
  readonly id: string
  readonly cwd: string | undefined
  /** Prompts of the editor that have not ended. */
  readonly prompts = new Set<string>()
  /** The questions of the agent to the user. */
  readonly questions = new Set<string>()
  /** Version 2 says it. */
  reportedState: 'running' | 'requires_action' | 'idle' = 'idle'
  own: OwnTurn | undefined
  /** Prompts of the editor that wait for the end of ours, as they came. */
  readonly waiting: { readonly id: string | number; readonly line: Buffer }[] = []

  constructor(id: string, cwd: string | undefined) {
    this.id = id
    this.cwd = cwd
  }

  get state(): PresenceState {
    if (this.questions.size > 0 || this.reportedState === 'requires_action') return 'waitingOnApproval'
    return this.prompts.size > 0 || this.own !== undefined || this.reportedState === 'running' ? 'active' : 'idle'
  }
}
