import {
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { holdMaxMs } from '../../../following/view.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { type AskApi, createAskApi } from '../ask-api.ts'
import type { CallApi } from '../call-api.ts'
import { mcpCallOf } from '../mcp-call.ts'
import { Refused } from '../refused.ts'
import { requestDeclaresTasks, tasksExtension } from './declared.ts'
import { endOf } from './end.ts'
import { taskFields } from './mcp-task.ts'

/** The methods of the extension `io.modelcontextprotocol/tasks`. */
export const taskMethods: ReadonlySet<string> = new Set(['tasks/get', 'tasks/update', 'tasks/cancel'])

/** Without mail: nobody would read it in these answers. */
const headers = { 'rouse-pending-signals': 'none' }
const anyParams = z.looseObject({}).optional()

/** Said of every id that is not the caller's, whatever the reason. */
const unknownTask = 'There is no such task, or it has expired.'
const cancelled =
  'You follow this no more. What was asked for goes on: list_tasks with role originator finds a task, and move_task with canceled cancels it.'

/**
 * Has a server answer the methods of MCP tasks, each by a call of the API. A poll is held there. What comes from nobody's question is never asked
 * of a person here, so an update has nothing to answer. Source: SEP-2663.
 */
export function registerTasks({ server }: McpServer, call: CallApi): void {
  const on = (method: string, answer: (ask: AskApi, id: string) => Promise<JsonObject>) =>
    server.setRequestHandler(method, { params: anyParams }, async (params, context) => {
      requireDeclared(context)
      const ask = createAskApi(call, mcpCallOf(context), context.mcpReq.signal)
      try {
        return await answer(ask, idIn(params ?? {}))
      } catch (error) {
        throw toTaskError(error)
      }
    })
  on('tasks/get', async (ask, id) => {
    const waitSeconds = holdMaxMs / 1000
    const view = await ask.rest('GET /v1/followers/:id', {
      params: { id },
      query: { waitSeconds: `${waitSeconds}` },
      headers,
    })
    if (view.status === 'cancelled') return { ...taskFields(view), statusMessage: cancelled }
    return { ...taskFields(view), ...(view.status === 'completed' ? { result: await endOf(ask, view) } : {}) }
  })
  on('tasks/update', async (ask, id) => {
    await ask.rest('GET /v1/followers/:id', { params: { id }, headers })
    return {}
  })
  on('tasks/cancel', async (ask, id) => {
    await ask.rest('DELETE /v1/followers/:id', { params: { id }, headers })
    return {}
  })
}

/** Errors: -32021. */
function requireDeclared(context: ServerContext): void {
  if (requestDeclaresTasks(context)) return
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [tasksExtension]: {} } } })
}

/** The id of a task, as a part of a path. Errors: -32602. */
function idIn({ taskId }: JsonObject): string {
  if (typeof taskId === 'string' && /^[\w-]{1,100}$/.test(taskId)) return taskId
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTask)
}

/** A client polls on after each of these errors, and comes to the end when there is one. */
function toTaskError(error: unknown): unknown {
  if (!(error instanceof Refused)) return error
  if (error.status === 404) return new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTask)
  return new ProtocolError(ProtocolErrorCode.InternalError, error.message)
}
