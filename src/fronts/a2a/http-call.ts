import type { Request, Response } from 'express'
import { revoked } from '../../identity/open-calls.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { A2aOperation } from '../access/a2a-operations.ts'
import type { FrontContext } from '../front-context.ts'
import { slotOf } from '../http/admit-request.ts'
import { EventStream, untilClosed } from '../http/sse.ts'
import { idempotencyKey } from '../idempotency-key.ts'
import { a2aErrorBody } from './answer.ts'
import { A2aCall, type PageRequest } from './call.ts'

/** An A2A call over JSON-RPC or HTTP+JSON. */
export class HttpCall extends A2aCall {
  readonly #req: Request
  readonly #res: Response
  #stream: EventStream | undefined

  /** @param address the client's IP address */
  constructor(req: Request, res: Response, context: FrontContext, address: string) {
    const lastEventId = req.get('last-event-id')
    super(
      {
        caller: res.locals.caller as Caller,
        agent: res.locals.agent as Agent,
        operation: res.locals.operation as A2aOperation,
        front: req.path === '/' ? 'json-rpc' : 'http+json',
        address,
        slot: slotOf(res),
        idempotencyKey: idempotencyKey(req.get('idempotency-key')),
        traceparent: req.get('traceparent'),
        lastEventId: lastEventId && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined,
        pageRequest: pageOf(req),
      },
      context,
    )
    this.#req = req
    this.#res = res
  }

  /**
   * Replaces the `write` of the response, which the SDK calls once for each event. Each event gets its logId as SSE id, so that a
   * client can reconnect with Last-Event-ID and miss nothing.
   */
  override beginStream(): void {
    const res = this.#res
    const farewell = (): object => a2aErrorBody(this.#req, revoked())
    const reader = { caller: this.caller, revoked: this.revokedSignal, farewell }
    const stream = new EventStream(res, reader, this.context.admission.unread)
    res.write = ((chunk: string) => {
      const { position } = this
      this.position = undefined
      return stream.write(position !== undefined && chunk.startsWith('data:') ? `id: ${position}\n${chunk}` : chunk)
    }) as typeof res.write
    this.#stream = stream
  }

  /** A stream that has begun needs nothing here: `EventStream` ends it with a last event when its key is revoked. */
  override finishStream(): void {
    if (!this.#res.headersSent) this.requireNotRevoked()
  }

  override async taken(): Promise<void> {
    await this.#stream?.taken(this.signal)
  }

  protected override untilClosed(others: AbortSignal[]): AbortSignal {
    return untilClosed(this.#req, this.#res, ...others)
  }
}

function pageOf(req: Request): PageRequest {
  if (!req.url.includes('?')) return {}
  const { pageSize, pageToken } = req.query
  return {
    ...(typeof pageSize === 'string' ? { pageSize: Number(pageSize) } : {}),
    ...(typeof pageToken === 'string' ? { pageToken } : {}),
  }
}
