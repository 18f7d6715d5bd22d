import { sql } from '../../storage/statement.ts'

/**
 * Of the rows of recipients: mail to one session of the agent, which the row names. It never waits for the agent, so that no
 * other session gets it. Source: D26.
 */
export const isToSession = sql`signal_type = 'MasterPreempted'`

/** Of the rows of recipients: mail to the agent, whichever session speaks for it. */
export const isToAgent = sql`(signal_type is null or signal_type <> 'MasterPreempted')`
