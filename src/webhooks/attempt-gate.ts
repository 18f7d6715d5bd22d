import { outboundLimits as limits } from '../gateway-limits.ts'
import { FairGate } from '../lib/fair-gate.ts'

/** The places of all attempts of a gateway. */
export type AttemptGate = FairGate

export function createAttemptGate(): AttemptGate {
  return new FairGate({
    total: limits.attempts.max,
    project: limits.attemptsOfProject.max,
    agent: { max: limits.attemptsOfAgent.max, slow: limits.attemptsOfSlowAgent.max },
    target: limits.attemptsToOrigin.max,
    agentTarget: { max: limits.attemptsOfAgentToOrigin.max, slow: limits.attemptsOfAgentToSlowOrigin.max },
  })
}
