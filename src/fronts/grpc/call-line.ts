import { status } from '@grpc/grpc-js'
import { newRequestIds } from '../../lib/request-ids.ts'
import { isShown, type Logger } from '../../logger/logger.ts'
import { grpcOperation } from '../access/a2a-operations.ts'
import { LineLevels, sinceMs } from '../http/request-log.ts'
import type { IncomingCall } from './admitted-call.ts'

/** The line of one call. */
export interface CallLine {
  /** Takes the id that a proxy gave the call. */
  name(given: string | undefined): void
  /** Writes the line, once: a call may be cancelled after its answer. */
  end(code: number): void
}

const faults: ReadonlySet<number> = new Set([status.UNKNOWN, status.INTERNAL, status.UNAVAILABLE, status.DATA_LOSS])
const noLine: CallLine = { name() {}, end() {} }

/** Writes one line for each call over gRPC, as `logRequests` does for HTTP. */
export class CallLines {
  readonly #log: Logger
  readonly #shows: { readonly info: boolean; readonly debug: boolean }
  readonly #idOf = newRequestIds()
  readonly #levels = new LineLevels()

  constructor(log: Logger) {
    this.#log = log
    this.#shows = { info: isShown(log, 'info'), debug: isShown(log, 'debug') }
  }

  begin(incoming: IncomingCall): CallLine {
    if (!this.#shows.info) return noLine
    const startedAt = performance.now()
    let requestId: string | undefined
    let isWritten = false
    return {
      name: (given) => {
        requestId = this.#idOf(given)
      },
      end: (code) => {
        if (isWritten) return
        isWritten = true
        this.#write(incoming, { requestId: requestId ?? this.#idOf(undefined), code, startedAt })
      },
    }
  }

  #write(
    { path, caller, agent }: IncomingCall,
    { requestId, code, startedAt }: { requestId: string; code: number; startedAt: number },
  ): void {
    const operation = grpcOperation(path)
    const problem = code === status.OK ? undefined : status[code]
    const isFault = faults.has(code)
    const level = this.#levels.of({ isRead: operation?.scope === 'read', problem, isFault, caller })
    if (!this.#shows[level]) return
    const line = {
      requestId,
      method: 'gRPC',
      route: operation && path,
      operation: operation?.name,
      status: code,
      problem,
      ms: sinceMs(startedAt),
      agent: caller?.identity,
      keyId: caller?.keyId,
      project: caller?.projectId,
      to: agent?.handle,
    }
    this.#log[level](line, 'request.answered')
  }
}
