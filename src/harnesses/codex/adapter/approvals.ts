import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { Asked, Decision, NoteAsked } from '../../../bridge/adapter.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { AppServer } from './app-server.ts'
import type { RequestId, ServerMessage } from './rpc/connection.ts'

/** The server says so at once. */
const resolvedMaxMs = 5_000
/** Within that a short command that was allowed is over. */
const shortMs = 300
/** The model has gone on. */
const knownMaxMs = 60_000
/** The status of a command that was not run. */
const refused = 'declined'
/** An interrupt has ended its turn, and nothing says whether it has run. */
const cut = 'cut'
const leaveMs = 2_000

const commandRequest = z.object({
  kind: z.string().default('command'),
  threadId: z.string(),
  turnId: z.string(),
  itemId: z.string(),
  reason: z.string().nullish(),
  command: z.string(),
  cwd: z.string().nullish(),
  commandActions: z.array(z.object({ command: z.string() })).nullish(),
  networkApprovalContext: z.unknown().optional(),
  additionalPermissions: z.unknown().optional(),
})
type CommandRequest = z.infer<typeof commandRequest>

interface Waiting {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly ended: AbortController
  /** The command has ended, or was refused. */
  status?: string
  changed: () => void
}

/**
 * The requests of the conversations of one server to their user, and the answers. It is subscribed to a conversation only while that waits for its user: a
 * subscription keeps a conversation loaded after its user has closed it. The server then sends what is open to the new subscriber. A request is
 * known by its number on this connection alone.
 */
export class ThreadApprovals {
  readonly #server: AppServer
  readonly #noteAsked: NoteAsked
  readonly #waiting = new Map<RequestId, Waiting>()
  /** Those that have got an answer, until the end of their commands is known. */
  readonly #answering = new Set<Waiting>()
  /** The conversations with a subscription. A timer ends it. */
  readonly #followed = new Map<string, NodeJS.Timeout | undefined>()

  constructor(server: AppServer, noteAsked: NoteAsked) {
    this.#server = server
    this.#noteAsked = noteAsked
    server.connection.listen((said) => this.#hear(said))
    void server.connection.closed.then(() => {
      for (const { ended } of this.#waiting.values()) ended.abort('withdrawn')
    })
  }

  /** Takes the state of a conversation. Errors: of the server. */
  async follow(threadId: string, isWaiting: boolean): Promise<void> {
    const isFollowed = this.#followed.has(threadId)
    clearTimeout(this.#followed.get(threadId))
    if (isWaiting) {
      this.#followed.set(threadId, undefined)
      if (!isFollowed) await this.#server.load(threadId)
    } else if (isFollowed) this.#leaveSoon(threadId)
  }

  /** The end of a command is told to who is subscribed. */
  #leaveSoon(threadId: string): void {
    const timer = setTimeout(() => {
      if ([...this.#answering].some((one) => one.threadId === threadId)) return this.#leaveSoon(threadId)
      this.#followed.delete(threadId)
      this.#server.leave(threadId).catch(() => {})
    }, leaveMs)
    this.#followed.set(threadId, timer.unref())
  }

  #hear({ method, params, id }: ServerMessage): void {
    if (method === 'item/commandExecution/requestApproval' && id !== undefined) this.#asked(id, params)
    else if (method === 'serverRequest/resolved') this.#resolved(params.requestId as RequestId)
    else if (this.#answering.size > 0) this.#noteEnd(method, params)
  }

  #asked(id: RequestId, params: JsonObject): void {
    const { data: request } = commandRequest.safeParse(params)
    // Of what else is asked, the server does not say all.
    if (request?.kind !== 'command' || this.#waiting.has(id)) return
    const { threadId, turnId, itemId } = request
    const waiting: Waiting = { threadId, turnId, itemId, ended: new AbortController(), changed: () => {} }
    this.#waiting.set(id, waiting)
    this.#noteAsked(this.#askedOf(request, waiting, id))
  }

  #askedOf(request: CommandRequest, waiting: Waiting, id: RequestId): Asked {
    const { threadId, reason, cwd, command, commandActions: actions } = request
    const [action] = actions ?? []
    const { networkApprovalContext, additionalPermissions } = request
    return {
      nonce: `${request.itemId}:${randomUUID()}`,
      conversationId: threadId,
      kind: 'permission',
      tool: 'shell',
      input: {
        command,
        // Without the shell that runs it.
        ...(actions?.length === 1 && action && action.command !== command ? { bareCommand: action.command } : {}),
        ...(networkApprovalContext ? { networkApprovalContext } : {}),
        ...(additionalPermissions ? { additionalPermissions } : {}),
      },
      reason: reason ?? undefined,
      cwd: cwd ?? undefined,
      ended: waiting.ended.signal,
      answer: (decision) => this.#answer(id, waiting, decision),
    }
  }

  /** Of two answers the server takes the first, and drops the other without an error: the end of the command says which one it was. */
  async #answer(id: RequestId, waiting: Waiting, decision: Decision): Promise<'taken' | 'late' | undefined> {
    const { connection } = this.#server
    const isOpen = () => this.#isOpen(waiting)
    if (!isOpen() || connection.isClosed) return 'late'
    if (decision.answer === 'answer') return 'late'
    const isDenied = decision.answer === 'deny'
    this.#answering.add(waiting)
    connection.respond(id, { decision: isDenied ? 'decline' : 'accept' })
    await this.#until(waiting, () => !isOpen(), resolvedMaxMs)
    const isKnown = () => waiting.status !== undefined
    await this.#until(waiting, isKnown, shortMs)
    if (isDenied && decision.message && (waiting.status ?? refused) === refused) {
      // The protocol has no place for it: the turn, which goes on, is told.
      const { threadId, turnId, itemId } = waiting
      await this.#server.steer(threadId, turnId, decision.message, `rouse-${itemId}`).catch(() => {})
    }
    // A command that runs on was allowed.
    if (isDenied) await this.#until(waiting, isKnown, knownMaxMs)
    this.#answering.delete(waiting)
    const { status } = waiting
    if (isOpen() || status === cut || (isDenied && status === undefined)) return undefined
    return (status === refused) === isDenied ? 'taken' : 'late'
  }

  /** A command that has run ends. Of one that was refused the model goes on without that. */
  #noteEnd(method: string, { turnId, turn, item }: JsonObject): void {
    const { id, type, status } = (item ?? turn ?? {}) as JsonObject
    for (const waiting of this.#answering) {
      const isOfTurn = waiting.turnId === (method === 'turn/completed' ? id : turnId)
      if (method === 'item/completed' && waiting.itemId === id) waiting.status ??= String(status)
      else if (!isOfTurn || this.#isOpen(waiting)) continue
      else if (method === 'turn/completed') waiting.status ??= status === 'completed' ? refused : cut
      else if (method === 'item/started' && type !== 'userMessage' && id !== waiting.itemId) waiting.status ??= refused
      waiting.changed()
    }
  }

  async #until(waiting: Waiting, isSo: () => boolean, maxMs: number): Promise<void> {
    const late = new AbortController()
    const over = delay(maxMs, true, { signal: late.signal, ref: false }).catch(() => true)
    while (!isSo()) {
      const changed = new Promise<void>((resolve) => {
        waiting.changed = resolve
      })
      if (await Promise.race([over, changed])) break
    }
    late.abort()
  }

  #resolved(id: RequestId): void {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    this.#waiting.delete(id)
    waiting.ended.abort('answered_there')
    waiting.changed()
  }

  #isOpen(waiting: Waiting): boolean {
    return [...this.#waiting.values()].includes(waiting)
  }
}
