import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../lib/json.ts'
import type { FollowedView } from '../../rest/followers/view.ts'
import type { AskApi } from '../ask-api.ts'
import { Refused } from '../refused.ts'

/** The answer of a tool that goes on: its client follows it, and gets the result when there is one. */
export class McpTask {
  readonly fields: JsonObject

  constructor(view: FollowedView) {
    this.fields = taskFields(view)
  }

  /** The task as the library takes it from a tool. `sentTask` leaves out what is no part of it. */
  get result(): CallToolResult {
    return { resultType: 'task', ...this.fields, content: [], structuredContent: {} }
  }
}

/** The fields of an MCP task on the wire. It does not end by its age: a client that polls is answered. Pure. */
export function taskFields(view: FollowedView): JsonObject {
  const { followerId: taskId, status, createdAt, lastUpdatedAt, pollIntervalMs } = view
  return { taskId, status, createdAt, lastUpdatedAt, ttlMs: null, pollIntervalMs }
}

/** Returns a message to a client as it is sent: a task has no content. The library gives one to each result of a tool. Pure. */
export function sentTask(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message) || message.result.resultType !== 'task') return message
  const { content: _none, structuredContent: _empty, ...result } = message.result
  return { ...message, result }
}

/**
 * Follows a task, or the next mail, for the client of a call. `there`: it has an end already, and is answered plainly. `refused`: the key may not
 * follow. Mail is left for the result of the tool: a task shows none.
 */
export async function follow({ rest }: AskApi, taskId?: string): Promise<McpTask | 'there' | 'refused'> {
  try {
    const body = taskId === undefined ? {} : { taskId }
    const view = await rest('POST /v1/followers', { body, headers: { 'rouse-pending-signals': 'count' } })
    return view.followerId === null ? 'there' : new McpTask(view)
  } catch (error) {
    if (error instanceof Refused) return 'refused'
    throw error
  }
}
