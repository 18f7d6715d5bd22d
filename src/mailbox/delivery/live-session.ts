import type { Reader } from '../../storage/database.ts'

/** The part of a live session that decides how mail reaches its agent. */
export interface LiveSession {
  readonly id: string
  readonly surface: string
}

/** Returns the live session that speaks for an agent, if there is one. */
export type FindSession = (reader: Reader, agentId: string) => Promise<LiveSession | undefined>
