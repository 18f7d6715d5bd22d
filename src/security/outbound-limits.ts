import { MiB } from '../limits.ts'

/** Deliveries and name look-ups at a time. More of them wait in a queue; nobody is refused. */
export const outboundLimits = {
  attempts: { max: 1_024 },
  attemptsOfAgent: { max: 128 },
  attemptsOfAgentToOrigin: { max: 64 },
  /** An origin that lets attempts time out. */
  attemptsOfAgentToSlowOrigin: { max: 8 },
  attemptsOfProject: { max: 512 },
  /** To all origins that let attempts time out. */
  attemptsOfSlowAgent: { max: 32 },
  attemptsToOrigin: { max: 128 },
  /** Bytes. */
  hostsFile: { max: MiB },
  /** Seconds in the queue; then the attempt is postponed. */
  lookupWait: { max: 10 },
  lookups: { max: 256 },
  lookupsOfAgent: { max: 8 },
  lookupsOfProject: { max: 64 },
  lookupsOfSlowAgent: { max: 2 },
  namesKept: { max: 10_000 },
  /** Seconds. */
  nameKeptFor: { max: 30 },
  /** Seconds, with all its tries. */
  nameLookup: { max: 5 },
  originsKept: { max: 1_024 },
  originsKeptOfAgent: { max: 256 },
  /** Characters of bodies over 256 KiB of an agent in flight. */
  pushBodies: { max: 64 * MiB },
  pushesRendered: { max: 4 },
  runs: { max: 1_536 },
  runsOfAgent: { max: 512 },
  /** To origins that let attempts time out; half of them for one project. */
  slowAttempts: { max: 256 },
} as const
