import type { Caller } from '../../../registry/callers/caller.ts'
import type { FrontContext } from '../../front-context.ts'
import type { ApiRequest, CallApi } from '../call-api.ts'
import type { LocalCaller } from '../local-api.ts'

/** The caller over HTTP, and its harness. */
export interface McpCaller extends LocalCaller {
  /** `claude_code` */
  readonly surface: string
}

/**
 * Calls the API for agents that have a session: one without a live session gets one with the first call of a tool. Without a session
 * no mail would come along with its answers. An existing session stays, also if another program has started it, and ends when the agent is
 * silent. Source: S2-2, D12.
 */
export function callInSession(
  { db, mail: { findSession } }: FrontContext,
  localApi: (from: LocalCaller) => CallApi,
): (from: McpCaller) => CallApi {
  const starting = new Map<string, Promise<void>>()
  const start = async ({ caller, surface }: McpCaller, call: CallApi): Promise<void> => {
    if (await findSession(db, caller.id)) return
    // Its mail comes with the answer to the tool. If the session is refused, the tool continues without one.
    await call({ method: 'POST', path: '/v1/sessions', body: { surface, drain: false } })
  }
  const ensure = (from: McpCaller, call: CallApi): Promise<void> => {
    const { id } = from.caller
    const known = starting.get(id)
    if (known) return known
    const started = start(from, call).finally(() => starting.delete(id))
    starting.set(id, started)
    return started
  }
  return (from) => {
    const call = localApi(from)
    return async (request, options) => {
      if (isWork(from.caller, request)) await ensure(from, call)
      return call(request, options)
    }
  }
}

/** Resources are read without taking mail: that is no sign of a harness at work. A poll is one, while it lasts. */
function isWork({ kind, scopes }: Caller, { path, headers = {} }: ApiRequest): boolean {
  const isSign = headers['rouse-pending-signals'] !== 'none' || path.startsWith('/v1/followers/')
  return kind === 'agent' && scopes.includes('work') && isSign
}
