import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Audit } from '../audit/audit.ts'
import type { AuditEntry } from '../audit/entry.ts'
import type { Problem, ProblemCode } from '../errors.ts'
import type { ClientAddress } from '../security/client-address.ts'

/** Problems of the edge that mean an attempt to do what the client may not do. Others are mistakes. */
const refusals: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['misdirected-request', 'forbidden'])

/**
 * Counts in the audit what a port refuses before any key is read: like attempts from one network within a minute share one record, and
 * the number of records is bounded, as for unknown keys.
 */
export class EdgeRefusals {
  readonly #audit: Pick<Audit, 'refuse'>
  readonly #clientAddress: ClientAddress

  constructor(audit: Pick<Audit, 'refuse'>, clientAddress: ClientAddress) {
    this.#audit = audit
    this.#clientAddress = clientAddress
  }

  /** Counts a request that `guardEdge` refused. Its target is the name in `Host`, where that was the reason: it says which page or proxy sent it. */
  noteRequest({ socket, headers }: IncomingMessage, { code }: Problem): void {
    if (!refusals.has(code)) return
    const address = this.#clientAddress(socket.remoteAddress, headers['x-forwarded-for'] as string | undefined)
    const target = code === 'misdirected-request' ? (headers.host ?? '') : ''
    this.#note({ address, front: 'gateway', operation: 'http.request', target, outcome: code })
  }

  /** Counts a gRPC connection that was closed because its client has no certificate of the CA. */
  noteConnection({ remoteAddress }: Pick<Socket, 'remoteAddress'>): void {
    const address = this.#clientAddress(remoteAddress, undefined)
    this.#note({ address, front: 'grpc', operation: 'grpc.connect', target: '', outcome: 'forbidden' })
  }

  #note(entry: Pick<AuditEntry, 'address' | 'front' | 'operation' | 'target' | 'outcome'>): void {
    this.#audit.refuse({ project: '', actor: '', callerId: '', keyId: '', ...entry })
  }
}
