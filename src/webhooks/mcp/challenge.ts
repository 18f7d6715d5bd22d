import { Problem } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'
import { TokenBuckets } from '../../lib/token-buckets.ts'
import { gatewayLimits } from '../../limits.ts'
import { OutboundError } from '../../security/outbound-error.ts'
import { secretsEqual } from '../../security/secret.ts'
import type { ChallengeReceiver } from '../../wakes/channel.ts'
import { type CallbackFault, callbackFaultOf } from '../../words/mcp-events.ts'
import { PreparedKey } from '../../words/signature.ts'
import type { WebhookTools } from '../attempts.ts'
import { challengeRequest } from './requests.ts'

const { max } = gatewayLimits.challengesPerHost
const ofHost = { size: max, windowMs: 60_000 }

/** Each challenge takes from what a project has for the host, and gives it back when it is answered. Errors: `rate-limited`. */
export function createChallenge({ outbound, clock, timeoutMs }: WebhookTools): ChallengeReceiver {
  const unanswered = new TokenBuckets()
  return async ({ url, mcpId, secret, payer, signal }) => {
    const { hostname } = new URL(url)
    const key = `${payer.projectId} ${hostname}`
    const retryAfterSeconds = Math.ceil(unanswered.spend(key, ofHost, clock.now()) / 1_000)
    if (retryAfterSeconds > 0) {
      const detail = `url: ${hostname} has not answered ${max} challenges of this project (challengesPerHost). Mount the handler there, and wait ${retryAfterSeconds} s.`
      const extra = { limit: max, limitName: 'challengesPerHost', retryAfterSeconds }
      throw new Problem('rate-limited', { field: 'url', detail, extra })
    }
    const timestampSeconds = Math.floor(clock.now() / 1000)
    const { request, nonce } = challengeRequest({ url, mcpId, keys: [new PreparedKey(secret)], timestampSeconds })
    const { headers, body } = request
    try {
      const { status, bodySnippet } = await outbound.post({ url, headers, body, payer, timeoutMs, signal })
      if (status < 200 || status >= 300) return callbackFaultOf({ status, error: null })
      const fault = echoFault(bodySnippet, nonce)
      if (fault === undefined) unanswered.take(key, ofHost, clock.now(), -1)
      return fault
    } catch (error) {
      if (error instanceof OutboundError) return callbackFaultOf({ status: null, error: error.kind })
      throw error
    }
  }
}

function echoFault(text: string, nonce: string): CallbackFault | undefined {
  const challenge = challengeIn(text)
  return challenge !== undefined && secretsEqual(challenge, nonce) ? undefined : 'challenge_failed'
}

function challengeIn(text: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    return isJsonObject(answer) && typeof answer.challenge === 'string' ? answer.challenge : undefined
  } catch {
    return undefined
  }
}
