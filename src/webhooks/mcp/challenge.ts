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

const ofHost = { size: gatewayLimits.challengesPerHost.max, windowMs: 60_000 }

/** Each challenge takes from what a project has for the host, and gives it back when it is answered. Errors: `rate-limited`. */
export function createChallenge({ outbound, clock, timeoutMs }: WebhookTools): ChallengeReceiver {
  const unanswered = new TokenBuckets()
  const challenge: ChallengeReceiver = async ({ url, mcpId, secret, payer, signal }) => {
    const timestampSeconds = Math.floor(clock.now() / 1000)
    const { request, nonce } = challengeRequest({ url, mcpId, keys: [new PreparedKey(secret)], timestampSeconds })
    const { headers, body } = request
    try {
      const { status, bodySnippet } = await outbound.post({ url, headers, body, payer, timeoutMs, signal })
      return status >= 200 && status < 300 ? echoFault(bodySnippet, nonce) : callbackFaultOf({ status, error: null })
    } catch (error) {
      if (error instanceof OutboundError) return callbackFaultOf({ status: null, error: error.kind })
      throw error
    }
  }
  return async (asked) => {
    const { hostname } = new URL(asked.url)
    const key = `${asked.payer.projectId} ${hostname}`
    const waitMs = unanswered.spend(key, ofHost, clock.now())
    if (waitMs > 0) throw tooManyOf(hostname, Math.ceil(waitMs / 1_000))
    const fault = await challenge(asked)
    if (fault === undefined) unanswered.take(key, ofHost, clock.now(), -1)
    return fault
  }
}

function tooManyOf(hostname: string, retryAfterSeconds: number): Problem {
  const { max } = gatewayLimits.challengesPerHost
  return new Problem('rate-limited', {
    field: 'url',
    detail: `url: ${max} challenges of this project are not answered by ${hostname} (challengesPerHost). Mount the handler there first, and wait ${retryAfterSeconds} s.`,
    extra: { limit: max, limitName: 'challengesPerHost', retryAfterSeconds },
  })
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
