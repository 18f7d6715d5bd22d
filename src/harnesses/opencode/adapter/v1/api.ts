import { z } from 'zod'
import { type Answer, getFrom, type ServerAddress, sendTo } from '../http/call.ts'

/** A conversation as OpenCode lists it. Times are ms since the epoch. */
const session = z.object({
  id: z.string(),
  directory: z.string(),
  parentID: z.string().nullish(),
  time: z.object({ updated: z.number(), archived: z.number().nullish() }),
})
export type V1Session = z.infer<typeof session>

const message = z.object({
  info: z.object({
    id: z.string(),
    role: z.string(),
    /** Of an answer: the prompt that it answers. */
    parentID: z.string().nullish(),
    time: z.object({ created: z.number() }),
    agent: z.string().nullish(),
    model: z.object({ providerID: z.string(), modelID: z.string() }).nullish(),
    error: z.unknown().optional(),
  }),
})
export type V1Message = z.infer<typeof message>['info']

/** A call of a tool in an answer. Its input is not there while the model still writes it. */
const toolPart = z.object({
  type: z.literal('tool'),
  callID: z.string(),
  state: z.object({ status: z.string(), input: z.record(z.string(), z.unknown()) }),
})
const answerParts = z.object({ parts: z.array(z.unknown()) })

/** The call of a tool that a request is about. */
export const v1ToolCall = z.object({ messageID: z.string(), callID: z.string() })
export type V1ToolCall = z.infer<typeof v1ToolCall>

const health = z.object({ healthy: z.literal(true), version: z.string() })
const place = z.object({ directory: z.string() })
const statuses = z.record(z.string(), z.object({ type: z.string() }))
const questionList = z.array(z.object({ sessionID: z.string() }))

/** OpenCode answered a request with an error or in an unexpected form. */
export class V1Refusal extends Error {
  readonly status: number

  constructor(what: string, status: number) {
    super(`OpenCode answered ${what} with HTTP ${status}`)
    this.status = status
  }
}

/** How many conversations, and how many messages of one, are looked at. */
const sessionsMax = 100
const messagesMax = 50

/** The calls of OpenCode 1 that are used. Errors of all: `V1Refusal`, no answer, an answer of another form. */
export function v1Api(server: ServerAddress) {
  const get = async <T>(path: string, form: z.ZodType<T>, signal: AbortSignal): Promise<T> => {
    const { status, body } = await getFrom(server, path, signal)
    if (status !== 200) throw new V1Refusal(`GET ${path}`, status)
    return form.parse(body)
  }
  /** Undefined: there is none. */
  const getIfThere = <T>(path: string, form: z.ZodType<T>, signal: AbortSignal): Promise<T | undefined> =>
    get(path, form, signal).catch((error: unknown) => {
      if (error instanceof V1Refusal && error.status === 404) return undefined
      throw error
    })
  const messagesPath = (sessionId: string) => `/session/${encodeURIComponent(sessionId)}/message`
  const messagePath = (sessionId: string, id: string) => `${messagesPath(sessionId)}/${encodeURIComponent(id)}`
  return {
    server,
    /** The version. */
    version: async (signal: AbortSignal) => (await get('/global/health', health, signal)).version,
    /** Where the process works. */
    directory: async (signal: AbortSignal) => (await get('/path', place, signal)).directory,
    sessions: (directory: string, signal: AbortSignal) =>
      get(`/session?${new URLSearchParams({ directory, limit: String(sessionsMax) })}`, z.array(session), signal),
    session: (id: string, signal: AbortSignal) => getIfThere(`/session/${encodeURIComponent(id)}`, session, signal),
    /** The conversations that are busy now: idle ones are not in the list. */
    busy: async (signal: AbortSignal) => {
      const all = Object.entries(await get('/session/status', statuses, signal))
      return new Set(all.filter(([, { type }]) => type !== 'idle').map(([id]) => id))
    },
    /** The conversations that wait for an approval or an answer of the user; those of subagents have ids of their own. */
    asking: async (signal: AbortSignal) => {
      const lists = ['/permission', '/question'].map((path) => getIfThere(path, questionList, signal))
      return new Set((await Promise.all(lists)).flatMap((list) => list ?? []).map(({ sessionID }) => sessionID))
    },
    message: async (sessionId: string, id: string, signal: AbortSignal): Promise<V1Message | undefined> =>
      (await getIfThere(messagePath(sessionId, id), message, signal))?.info,
    /** What a call of a tool was given. Undefined: there is no such call, or its input is not whole yet. */
    toolInput: async (sessionId: string, { messageID, callID }: V1ToolCall, signal: AbortSignal) => {
      const answer = await getIfThere(messagePath(sessionId, messageID), answerParts, signal)
      const calls = answer?.parts.flatMap((one) => toolPart.safeParse(one).data ?? [])
      const state = calls?.find((one) => one.callID === callID)?.state
      return state?.status === 'pending' ? undefined : state?.input
    },
    /** The newest messages, the oldest of them first. */
    messages: async (sessionId: string, signal: AbortSignal): Promise<V1Message[]> => {
      const path = `${messagesPath(sessionId)}?limit=${messagesMax}`
      return (await get(path, z.array(message), signal)).map(({ info }) => info)
    },
    prompt: (sessionId: string, body: object): Promise<Answer> =>
      sendTo(server, 'POST', `/session/${encodeURIComponent(sessionId)}/prompt_async`, body),
    removeMessage: (sessionId: string, id: string): Promise<Answer> =>
      sendTo(server, 'DELETE', messagePath(sessionId, id)),
  }
}
export type V1Api = ReturnType<typeof v1Api>
