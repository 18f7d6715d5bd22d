import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Asked, Decision, NoteAsked, UserRequest } from '../../../../bridge/adapter.ts'
import { sleep, systemClock } from '../../../../lib/clock.ts'
import { getFrom, sendTo } from '../http/call.ts'
import { type V1ToolCall, v1ToolCall } from './api.ts'
import type { V1Server } from './servers.ts'

const permission = z.object({
  id: z.string(),
  sessionID: z.string(),
  permission: z.string(),
  patterns: z.array(z.string()).default([]),
  metadata: z.record(z.string(), z.unknown()).default({}),
  tool: v1ToolCall.optional(),
})
type Permission = z.infer<typeof permission>

/** The call is asked about before OpenCode has stored what it was given. */
const inputTries = 5
const inputRetryMs = 200

const option = z.object({ label: z.string(), description: z.string().optional() })
const question = z.object({
  id: z.string(),
  sessionID: z.string(),
  questions: z.array(
    z.object({
      question: z.string(),
      header: z.string().optional(),
      options: z.array(option).default([]),
      multiple: z.boolean().optional(),
    }),
  ),
})
type Question = z.infer<typeof question>

interface Waiting {
  readonly ended: AbortController
}

/** A request, and the path and the body that answer it; undefined: that answer is none to it. */
interface Found {
  readonly id: string
  readonly request: UserRequest
  /** The call whose input belongs to the request; absent: the request says all. */
  readonly call?: V1ToolCall | undefined
  readonly reply: (decision: Decision) => { readonly path: string; readonly body?: object } | undefined
}

/** What the conversations of one process ask their user. Disposing it ends that: their terminal still asks. */
export class ServerAsked implements Disposable {
  readonly #server: V1Server
  readonly #noteAsked: NoteAsked
  readonly #waiting = new Map<string, Waiting>()
  #looking: Promise<void> = Promise.resolve()

  constructor(server: V1Server, noteAsked: NoteAsked) {
    this.#server = server
    this.#noteAsked = noteAsked
  }

  /** Looks what waits now. One look after the other. Never rejects: a look that fails has found nothing new. */
  look(signal: AbortSignal): void {
    this.#looking = this.#looking.then(() => this.#look(signal)).catch(() => {})
  }

  async #look(signal: AbortSignal): Promise<void> {
    const [permissions, questions] = await Promise.all([
      this.#list('/permission', permission, signal),
      this.#list('/question', question, signal),
    ])
    const found = [...permissions.filter(saysMore).map(permissionOf), ...questions.map(questionOf)]
    for (const [id, { ended }] of this.#waiting) {
      if (found.some((one) => one.id === id)) continue
      this.#waiting.delete(id)
      ended.abort('answered_there')
    }
    const fresh = found.filter(({ id }) => !this.#waiting.has(id))
    // One whose input is late holds up no other.
    await Promise.allSettled(fresh.map((one) => this.#begin(one, signal)))
  }

  async #begin({ id, request, call, reply }: Found, signal: AbortSignal): Promise<void> {
    const { api, directory } = this.#server
    const input = call ? await this.#inputOf(request.conversationId, call, signal) : {}
    // Nobody decides on what is not shown: its terminal asks.
    if (!input) return
    // That of a subagent is asked in the conversation that it works for.
    const parent = (await api.session(request.conversationId, signal))?.parentID
    const ended = new AbortController()
    this.#waiting.set(id, { ended })
    this.#noteAsked({
      ...request,
      input: { ...request.input, ...input },
      conversationId: parent ?? request.conversationId,
      cwd: directory,
      nonce: `${id}:${randomUUID()}`,
      ended: ended.signal,
      answer: async (decision) => {
        const given = reply(decision)
        if (!given || ended.signal.aborted) return 'late'
        const { status } = await sendTo(api.server, 'POST', given.path, given.body)
        if (status >= 200 && status < 300) return 'taken'
        if (status === 404) return 'late'
        throw new Error(`OpenCode answered with HTTP ${status}`)
      },
    } satisfies Asked)
  }

  /** What a call was given. Undefined: it cannot be read. Errors: the signal aborts. */
  async #inputOf(sessionId: string, call: V1ToolCall, signal: AbortSignal) {
    for (let tries = 1; ; tries += 1) {
      const input = await this.#server.api.toolInput(sessionId, call, signal).catch(() => undefined)
      signal.throwIfAborted()
      if (input || tries === inputTries) return input
      await sleep(systemClock, inputRetryMs, signal)
    }
  }

  async #list<One>(path: string, form: z.ZodType<One>, signal: AbortSignal): Promise<One[]> {
    const { status, body } = await getFrom(this.#server.api.server, path, signal)
    if (status === 404) return []
    if (status !== 200 || !Array.isArray(body)) throw new Error(`OpenCode answered GET ${path} with HTTP ${status}`)
    // Of another form: only its terminal can show it.
    return body.flatMap((one) => form.safeParse(one).data ?? [])
  }

  [Symbol.dispose](): void {
    for (const { ended } of this.#waiting.values()) ended.abort('withdrawn')
  }
}

/** False for one that names a tool and nothing of what it is for. */
const saysMore = ({ metadata, tool }: Permission): boolean => tool !== undefined || Object.keys(metadata).length > 0

function permissionOf({ id, sessionID, permission: name, patterns, metadata, tool: call }: Permission): Found {
  const path = `/permission/${encodeURIComponent(id)}/reply`
  return {
    id,
    request: { conversationId: sessionID, kind: 'permission', tool: name, input: { ...metadata, patterns } },
    call,
    reply: (decision) => {
      if (decision.answer === 'once') return { path, body: { reply: 'once' } }
      if (decision.answer !== 'deny') return undefined
      // With a sentence the turn goes on, and without one it ends.
      return { path, body: { reply: 'reject', ...(decision.message ? { message: decision.message } : {}) } }
    },
  }
}

function questionOf({ id, sessionID, questions }: Question): Found {
  const path = `/question/${encodeURIComponent(id)}`
  const shown = questions.map(({ multiple, ...one }) => ({ ...one, multiSelect: multiple === true }))
  return {
    id,
    request: { conversationId: sessionID, kind: 'question', tool: 'question', input: { questions: shown } },
    reply: (decision) => {
      if (decision.answer === 'deny') return { path: `${path}/reject` }
      if (decision.answer !== 'answer') return undefined
      const { answers } = decision
      return { path: `${path}/reply`, body: { answers: questions.map((one) => labelsIn(one, answers[one.question])) } }
    },
  }
}

/** The labels in an answer: `A, C` are two where each is a label, and several may be chosen. */
function labelsIn({ options, multiple }: Question['questions'][number], answer = ''): string[] {
  const labels = answer.split(', ')
  const areLabels = labels.every((one) => options.some(({ label }) => label === one))
  if (answer === '') return []
  return multiple && areLabels ? labels : [answer]
}
