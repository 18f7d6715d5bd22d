import { isJsonObject } from '../../lib/json.ts'
import { OutboundError } from '../../security/outbound-error.ts'
import { secretsEqual } from '../../security/secret.ts'
import type { ChallengeReceiver } from '../../wakes/channel.ts'
import { type CallbackFault, callbackFaultOf } from '../../words/mcp-events.ts'
import { PreparedKey } from '../../words/signature.ts'
import type { WebhookTools } from '../attempts.ts'
import { challengeRequest } from './requests.ts'

export function createChallenge({ outbound, clock, timeoutMs }: WebhookTools): ChallengeReceiver {
  return async ({ url, mcpId, secret, payer, signal }) => {
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
