import { FairGate } from '../lib/fair-gate.ts'
import { outboundLimits as limits } from '../security/outbound-limits.ts'

/** The places of all attempts of a gateway. */
export type AttemptGate = FairGate

export function createAttemptGate(): AttemptGate {
  return new FairGate({
    usual: {
      total: limits.attempts.max,
      project: limits.attemptsOfProject.max,
      agent: limits.attemptsOfAgent.max,
      target: limits.attemptsToOrigin.max,
      agentTarget: limits.attemptsOfAgentToOrigin.max,
    },
    slow: {
      total: limits.slowAttempts.max,
      project: limits.slowAttempts.max / 2,
      agent: limits.attemptsOfSlowAgent.max,
      target: limits.attemptsOfSlowAgent.max,
      agentTarget: limits.attemptsOfAgentToSlowOrigin.max,
    },
  })
}
