import { z } from 'zod'
import type { PresenceState } from '../../../words/presence.ts'

/** The state of a thread, as its server reports it. A server that has not loaded it reports `notLoaded`, also where another process has. Source: S1-14. */
export const threadStatus = z.object({ type: z.string(), activeFlags: z.array(z.string()).optional() })
type ThreadStatus = z.infer<typeof threadStatus>

/** A conversation of Codex. */
export const codexThread = z.object({
  id: z.string().max(200),
  cwd: z.string().max(4096),
  ephemeral: z.boolean().default(false),
  /** The beginning of its first prompt; empty: it has had none. */
  preview: z.string().default(''),
  status: threadStatus.default({ type: 'notLoaded' }),
})
export type CodexThread = z.infer<typeof codexThread>

const waitsForUser = ['waitingOnApproval', 'waitingOnUserInput']

/** Returns what the harness does. After `systemError`, a turn whose model failed, the next one runs. Pure. Source: S1-8, S1-14. */
export function stateOf({ type, activeFlags = [] }: ThreadStatus): PresenceState {
  if (type === 'idle' || type === 'systemError') return 'idle'
  if (type !== 'active') return 'unknown'
  return activeFlags.some((flag) => waitsForUser.includes(flag)) ? 'waitingOnApproval' : 'active'
}

export const isLoaded = ({ type }: ThreadStatus): boolean => ['idle', 'systemError', 'active'].includes(type)
