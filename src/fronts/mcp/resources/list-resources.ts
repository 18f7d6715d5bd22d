import type { Resource } from '@modelcontextprotocol/server'
import { shownText } from '../../../lib/words.ts'
import type { AskApi } from '../ask-api.ts'
import type { FindIdentity } from '../client-identity.ts'
import { Refused } from '../refused.ts'
import { type ResourceKind, uriOf } from './uris.ts'

const mimeType = 'application/json'
/** How many resources of a kind are listed: the newest tasks, the first agents. Others can be read all the same. */
const listed = 50
const headers = { 'rouse-pending-signals': 'none' }

/** The resources that are listed. Threads are found in mail. A kind that the key may not list is left out. */
export const listResources: Record<ResourceKind, (api: AskApi, own: FindIdentity) => Promise<Resource[]>> = {
  inbox: async (api, own) => {
    const { identity } = await own(api)
    return [{ uri: uriOf('inbox', identity), name: `inbox of ${identity}`, title: 'Your unread mail', mimeType }]
  },
  thread: async () => [],
  task: ({ rest }) =>
    orNone(async () => {
      const { tasks } = await rest('GET /v1/tasks', { query: { pageSize: listed, historyLength: 0 }, headers })
      return tasks.map(({ id, state, originator }) => ({
        uri: uriOf('task', id),
        name: `task ${id}`,
        title: `Task of ${originator} (${state})`,
        mimeType,
      }))
    }),
  agent: ({ rest }) =>
    orNone(async () => {
      const { agents } = await rest('GET /v1/agents', { query: { limit: listed }, headers })
      return agents.map(({ handle, displayName }) => ({
        uri: uriOf('agent', handle),
        name: `agent ${handle}`,
        title: shownText(displayName ?? handle),
        mimeType,
      }))
    }),
}

async function orNone(list: () => Promise<Resource[]>): Promise<Resource[]> {
  try {
    return await list()
  } catch (error) {
    if (error instanceof Refused && error.status < 500) return []
    throw error
  }
}
