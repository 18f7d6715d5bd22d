/** The kinds of failure that the decision to retry distinguishes. */
export type OutboundErrorKind =
  | 'refused'
  | 'dns'
  | 'connect'
  | 'timeout'
  | 'reset'
  | 'tls'
  | 'no-http'
  | 'aborted'
  | 'busy'
  | 'network'

/**
 * A request without a complete answer. `refused` is our own policy: permanent for an address in a URL, and for a name while it
 * resolves to such an address. `aborted` and `busy` prove nothing about the receiver: the request was stopped, or there was no room
 * for it. `cause` is for the gateway's log only.
 */
export class OutboundError extends Error {
  readonly kind: OutboundErrorKind

  constructor(kind: OutboundErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'OutboundError'
    this.kind = kind
  }
}

/**
 * The name in the URL has no address that may be reached. Only the operator learns whether it does not exist (`dns`) or is inside the
 * network (`refused`): with that difference a caller could list the names of a private network.
 */
export class NameError extends OutboundError {
  constructor(kind: 'dns' | 'refused', message: string, cause?: unknown) {
    super(kind, message, cause)
    this.name = 'NameError'
  }
}

/** Translates a failure of undici, node:net or node:tls. */
export function toOutboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error
  const { name, syscall, message = '', ...failure } = (error ?? {}) as NodeJS.ErrnoException
  // The parser's errors often have no code.
  const code = failure.code ?? (name === 'HTTPParserError' ? 'HPE_' : '')
  const rule = rules.find(
    ({ codes, syscall: wanted, says }) =>
      codes.test(code) && (!wanted || wanted === syscall) && (!says || says.test(message)),
  )
  // With several addresses tried, node:net reports the attempts as one AggregateError without a syscall.
  if (!rule && error instanceof AggregateError) return new OutboundError('connect', withCode('could not connect', code))
  if (!rule) return new OutboundError('network', withCode('the exchange failed', code), error)
  return new OutboundError(rule.kind, withCode(rule.message, rule.kind === 'aborted' ? '' : code), error)
}

interface Rule {
  readonly codes: RegExp
  readonly syscall?: string
  readonly says?: RegExp
  readonly kind: OutboundErrorKind
  readonly message: string
}

const rules: readonly Rule[] = [
  { codes: /^UND_ERR_CONNECT_TIMEOUT$/, kind: 'connect', message: 'could not connect in time' },
  { codes: /^UND_ERR_(CLOSED|DESTROYED)$/, kind: 'aborted', message: 'the gateway is stopping' },
  {
    codes: /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA$|HOSTNAME_MISMATCH$|EPROTO$)/,
    kind: 'tls',
    message: 'the TLS handshake failed',
  },
  { codes: /^(EMFILE|ENFILE|ENOBUFS|ENOMEM)$/, kind: 'network', message: 'the gateway is out of sockets' },
  { codes: /^HPE_/, kind: 'no-http', message: 'the answer is not HTTP' },
  { codes: /^UND_ERR_HEADERS_OVERFLOW$/, kind: 'no-http', message: 'the headers of the answer are larger than 64 KiB' },
  {
    codes: /^UND_ERR_SOCKET$/,
    says: /^bad (response|upgrade)$/,
    kind: 'no-http',
    message: 'the answer changes the protocol (101), which was not asked for',
  },
  {
    codes: /^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/,
    kind: 'no-http',
    message: 'the body of the answer has another length than its Content-Length',
  },
  { codes: /./, syscall: 'connect', kind: 'connect', message: 'could not connect' },
  {
    codes: /^(UND_ERR_SOCKET|ECONNRESET|EPIPE|ECONNABORTED|ETIMEDOUT)$/,
    kind: 'reset',
    message: 'the connection broke before the answer was complete',
  },
]

/** Codes such as ECONNREFUSED are safe to show; the messages that come with them hold addresses. */
function withCode(message: string, code: string): string {
  return /^[A-Z0-9_]+[A-Z0-9]$/.test(code) && !code.startsWith('UND_') ? `${message} (${code})` : message
}
