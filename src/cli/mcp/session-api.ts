import type { ApiAnswer, ApiRequest, CallApi, CallOptions } from '../../fronts/mcp/call-api.ts'
import type { AgentSession } from './agent-session.ts'
import type { HttpApi } from './http-api.ts'
import type { UnshownMail } from './unshown-mail.ts'

const headerOfSession = 'rouse-session'

/**
 * Calls the API in a session: it starts with the first call, and again when it has ended meanwhile. The refusal of a session is the
 * answer of the call: nothing is done for an agent that another process speaks for. Mail in an answer can be returned. Source: D12.
 */
export function createSessionApi(api: HttpApi, session: AgentSession, unshown: UnshownMail): CallApi {
  const callOnce = async (request: ApiRequest, { signal, mcp }: CallOptions) => {
    const { id, refusal } = await session.ensure()
    if (refusal) return { answer: refusal, mayRepeat: false }
    if (id === undefined) return { answer: await api(request, signal), mayRepeat: false }
    const answer = await api({ ...request, headers: { ...request.headers, [headerOfSession]: id } }, signal)
    const returnMail = unshown.note(mcp?.id, id, answer.body.pendingSignals)
    const mayRepeat = isAboutSession(request, answer) && session.note(id, answer)
    return { answer: returnMail ? { ...answer, returnMail } : answer, mayRepeat }
  }
  return async (request, options = {}) => {
    const { signal, mcp } = options
    signal?.throwIfAborted()
    // Codex names its thread in each call of a tool, and nowhere else.
    const threadId = mcp?.meta?.threadId
    if (typeof threadId === 'string') session.bind(threadId)
    const { answer, mayRepeat } = await callOnce(request, options)
    // The gateway refused before it did anything.
    return mayRepeat ? (await callOnce(request, options)).answer : answer
  }
}

/** A tool may ask for a session by its id: a refusal of that is the tool's. */
function isAboutSession({ path }: ApiRequest, { body }: ApiAnswer): boolean {
  return body.code === 'session-ended' || !path.startsWith('/v1/sessions/')
}
