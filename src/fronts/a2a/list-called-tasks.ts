import type { ListTasksRequest, ListTasksResponse } from '@a2a-js/sdk'
import type { Reader } from '../../storage/database.ts'
import { listTasks, nextPageToken } from '../../tasks/list-tasks.ts'
import { loadTaskContents } from '../../tasks/read-task.ts'
import type { A2aCall } from './call.ts'
import { historyLimit, listQuery } from './params.ts'
import { toA2aTask } from './task-view.ts'

/** Returns a page of the tasks of the called agent: all of them for the agent and the operator, else those that the caller sent. */
export async function listCalledTasks(
  db: Reader,
  { caller, agent, sizeMax }: A2aCall,
  params: ListTasksRequest,
): Promise<ListTasksResponse> {
  const query = listQuery(params)
  const seesAll = caller.kind === 'operator' || caller.id === agent.id
  const page = await listTasks(db, {
    ...query,
    projectId: agent.projectId,
    agentId: agent.id,
    originatorId: seesAll ? undefined : caller.id,
  })
  const historyLength = historyLimit(params.historyLength)
  const artifacts = params.includeArtifacts ?? false
  const contents = await loadTaskContents(db, page.tasks, { historyLength, artifacts, sizeMax })
  return {
    tasks: contents.map(toA2aTask),
    nextPageToken: nextPageToken(page, contents),
    pageSize: query.pageSize,
    totalSize: page.totalSize,
  }
}
