import type { Logger } from '../../../logger.ts'
import type { McpSession } from '../../../mcp-sessions/mcp-session.ts'
import { findMcpSession } from '../../../mcp-sessions/mcp-session-store.ts'
import type { Reader } from '../../../storage/database.ts'

/** The stream of a session's notifications. */
interface SessionStream {
  readonly id: string
  readonly sessionId: string
  /** Takes what the session has changed: its resources, its level. */
  update(session: McpSession): void
  end(): void
}

/** The streams of sessions that are open on this gateway. */
export class SessionStreams {
  readonly #db: Reader
  readonly #log: Logger
  readonly #open = new Map<string, SessionStream>()

  constructor(db: Reader, log: Logger) {
    this.#db = db
    this.#log = log
  }

  /** Counts a stream as open until the result is disposed. The newest stream of a session stays: an earlier one ends. */
  open(stream: SessionStream): Disposable {
    this.#open.get(stream.sessionId)?.end()
    this.#open.set(stream.sessionId, stream)
    return {
      [Symbol.dispose]: () => {
        if (this.#open.get(stream.sessionId) === stream) this.#open.delete(stream.sessionId)
      },
    }
  }

  /** Looks what has changed about sessions: a stream ends with its session, and when a newer one is open anywhere. */
  check(ids: readonly string[]): void {
    for (const id of ids) {
      const stream = this.#open.get(id)
      if (!stream) continue
      this.#check(stream).catch((err: unknown) => this.#log.warn({ err }, 'mcp_session.unchecked'))
    }
  }

  /** The same for all of them: notifications may have been lost. */
  checkAll(): void {
    this.check(this.sessionIds)
  }

  /** The sessions that have a stream here. */
  get sessionIds(): string[] {
    return [...this.#open.keys()]
  }

  async #check(stream: SessionStream): Promise<void> {
    const session = await findMcpSession(this.#db, stream.sessionId)
    if (session?.streamId === stream.id) stream.update(session)
    else stream.end()
  }
}
