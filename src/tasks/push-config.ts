import { Problem } from '../errors.ts'
import { KiB } from '../limits.ts'
import type { PushTarget } from '../registry/subscriptions/subscription.ts'
import { isLoopbackHost } from '../security/url-guard.ts'
import { requireBoundedId } from './bounded-message.ts'
import type { TaskContext } from './context.ts'

/** An A2A push notification config (specification §4.3.1), flat as in v1.0. */
export interface PushConfig {
  readonly id: string
  readonly taskId: string
  readonly url: string
  readonly token: string
  readonly authentication?: { readonly scheme: string; readonly credentials: string } | undefined
}

/** A config as a client gives it. An empty id: the gateway makes one. */
export type PushInput = Omit<PushConfig, 'taskId'> & { readonly protocolVersion: PushTarget['protocolVersion'] }

/** Token and credentials travel in the headers of every push, and are kept as long as the task. */
const headerValueMax = 8 * KiB

/** Throws `url-not-allowed` or `invalid-request` for a config that could never be sent for. `prefix` is the path to its fields. */
export function requireSendable(
  context: Pick<TaskContext, 'checkUrl'>,
  config: Pick<PushConfig, 'id' | 'url' | 'token' | 'authentication'>,
  prefix = '',
): void {
  const url = context.checkUrl(config.url, `${prefix}url`)
  const { scheme = '', credentials = '' } = config.authentication ?? {}
  requireBoundedId(config.id, `${prefix}id`)
  // RFC 9110 section 11.1 for the scheme, section 5.5 for what a header may carry.
  if (!/^[\w!#$%&'*+.^`|~-]{0,64}$/.test(scheme)) {
    throw invalid(`${prefix}authentication.scheme`, 'must be the name of an HTTP authentication scheme, e.g. Bearer.')
  }
  for (const [field, value] of Object.entries({ token: config.token, 'authentication.credentials': credentials })) {
    if (/^[\x20-\x7e]*$/.test(value) && value.length <= headerValueMax) continue
    throw invalid(prefix + field, `travels in a header: at most ${headerValueMax} characters of ASCII, no line breaks.`)
  }
  const secret = config.token ? 'token' : credentials ? 'authentication.credentials' : undefined
  if (secret && url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    throw invalid(prefix + secret, 'would be sent in clear text to an http:// URL. Use an https:// URL.')
  }
}

function invalid(field: string, reason: string): Problem {
  return new Problem('invalid-request', { field, detail: `${field} ${reason}` })
}
