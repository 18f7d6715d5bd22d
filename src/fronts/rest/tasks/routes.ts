import { Problem } from '../../../errors.ts'
import { requireAgent } from '../../../registry/agents/agents.ts'
import { requireSelf } from '../../../registry/callers/caller.ts'
import { addArtifact } from '../../../tasks/add-artifact.ts'
import { listTasks, nextPageToken } from '../../../tasks/list-tasks.ts'
import { moveTask } from '../../../tasks/move-task.ts'
import {
  changeAnswer,
  historyRecent,
  loadTaskDocument,
  loadTaskDocuments,
  requireTask,
} from '../../../tasks/read-task.ts'
import type { Task, TaskDocument } from '../../../tasks/task.ts'
import { readChunkPage, readMessagePage } from '../../../tasks/task-pages.ts'
import { VersionConflict } from '../../../tasks/version-conflict.ts'
import { nextToken } from '../page.ts'
import type { Reply } from '../reply.ts'
import { route } from '../route.ts'
import { artifactInput, taskPartQuery, taskQuery, taskReadQuery, transitionInput } from './input.ts'
import {
  type AddedArtifactView,
  type ArtifactPieceView,
  type TaskSummaryView,
  type TaskView,
  taskSummary,
  taskView,
} from './view.ts'

const pageSizeDefault = 50
/** The newest messages of each task in a list, unless the caller says how many. */
const listHistory = 10
const partDefault = 100

/** `/v1/tasks`: how a harness that runs no A2A server reads its tasks and works on them. */
export const taskRoutes = [
  route('GET /v1/tasks', {
    name: 'task.list',
    what: 'list tasks',
    access: { scope: 'read', operator: 'any', agent: 'party', peer: 'party', audited: 'no' },
    query: taskQuery,
    handle: async ({ caller, query, answer }, { db }) => {
      const {
        role,
        state,
        contextId,
        order,
        pageToken,
        pageSize = pageSizeDefault,
        historyLength = listHistory,
      } = query
      const agent = query.agent === undefined ? undefined : await requireAgent(db, caller.projectId, query.agent)
      if (agent) requireSelf(caller, agent.id, 'list the tasks of an agent')
      const own = agent?.id ?? (caller.kind === 'agent' ? caller.id : undefined)
      const page = await listTasks(db, {
        projectId: caller.projectId,
        // Operators are one originator. Those of some projects see its tasks in the project that they act in.
        isWithin: caller.projects !== undefined,
        assigneeId: role === 'originator' ? undefined : own,
        originatorId: role === 'originator' ? (agent?.id ?? caller.id) : undefined,
        state,
        contextId,
        order,
        pageSize,
        pageToken,
      })
      const artifacts = query.includeArtifacts === true
      const options = { historyLength, artifacts, viewer: caller.projectId, ...answer }
      const documents = await loadTaskDocuments(db, page.tasks, options)
      const tasks: (TaskSummaryView & Partial<TaskView>)[] = documents.map(artifacts ? taskView : taskSummary)
      return { tasks, nextPageToken: nextPageToken(page, documents), totalSize: page.totalSize }
    },
  }),
  route('GET /v1/tasks/:id', {
    name: 'task.read',
    what: 'read a task',
    access: { scope: 'read', operator: 'any', agent: 'party', peer: 'party', audited: 'no' },
    query: taskReadQuery,
    handle: async ({ caller, params, query, reply, answer }, { db }) => {
      const { historyLength = historyRecent } = query
      const { task } = await requireTask(db, caller, params.id)
      const document = await loadTaskDocument(db, task, { historyLength, viewer: caller.projectId, ...answer })
      setVersion(reply, task)
      // The tag names the version of the state, which artifacts do not change: it is for If-Match, never for a 304.
      reply.headers['Cache-Control'] = 'no-store'
      return taskView(document)
    },
  }),
  route('GET /v1/tasks/:id/messages', {
    name: 'task.readMessages',
    what: 'read the messages of a task',
    access: { scope: 'read', operator: 'any', agent: 'party', peer: 'party', audited: 'no' },
    query: taskPartQuery,
    handle: async ({ caller, params, query, answer }, { db }) => {
      const { limit = partDefault, pageToken = 0 } = query
      const { task } = await requireTask(db, caller, params.id)
      const { items, more } = await readMessagePage(db, task, { after: pageToken, limit, ...answer })
      return {
        messages: items.map(({ message }) => message),
        nextPageToken: nextToken(items, more, ({ seq }) => String(seq)),
      }
    },
  }),
  route('GET /v1/tasks/:id/artifacts', {
    name: 'task.readArtifacts',
    what: 'read the artifacts of a task',
    access: { scope: 'read', operator: 'any', agent: 'party', peer: 'party', audited: 'no' },
    query: taskPartQuery,
    handle: async ({ caller, params, query, answer }, { db }) => {
      const { limit = partDefault, pageToken = 0 } = query
      const { task } = await requireTask(db, caller, params.id)
      const { items, more } = await readChunkPage(db, task, { after: pageToken, limit, ...answer })
      const pieces: ArtifactPieceView[] = items.map(({ artifact, append, lastChunk }) => ({
        artifact,
        append,
        lastChunk,
      }))
      return { pieces, nextPageToken: nextToken(items, more, ({ seq }) => String(seq)) }
    },
  }),
  route('POST /v1/tasks/:id/transitions', {
    name: 'task.move',
    what: 'move a task',
    access: { scope: 'work', operator: 'any', agent: 'party', peer: 'party', audited: 'soon' },
    body: transitionInput,
    handle: async ({ caller, params, body, header, reply, answer }, context) => {
      const { to, message, answerAs, wakePolicy } = body
      const expectedVersion = requireVersion(header('if-match'), body.expectedVersion)
      const artifacts = body.artifacts?.map((artifact) => ({ artifact }))
      const move = { to, expectedVersion, message, artifacts, answerAs, wakePolicy, answer }
      const document = await withCurrent(
        () => moveTask(context, caller, params.id, move),
        (current) => loadTaskDocument(context.db, current, changeAnswer(caller, answer)),
      )
      setVersion(reply, document.task)
      return taskView(document)
    },
  }),
  route('POST /v1/tasks/:id/artifacts', {
    name: 'task.addArtifact',
    what: 'add an artifact',
    access: { scope: 'work', operator: 'any', agent: 'party', peer: 'party', audited: 'soon' },
    body: artifactInput,
    status: 201,
    handle: async ({ caller, params, body, reply, answer }, context): Promise<AddedArtifactView> => {
      const { document, artifactId } = await withCurrent(
        () => addArtifact(context, caller, params.id, { ...body, answer }),
        (current) => loadTaskDocument(context.db, current, changeAnswer(caller, answer)),
      )
      setVersion(reply, document.task)
      return { ...taskSummary(document), artifactId }
    },
  }),
] as const

function setVersion(reply: Reply, { version }: Task): void {
  reply.headers.ETag = `"${version}"`
}

/**
 * The version that a move is based on, from the body or from `If-Match`. Errors: `version-required`, and `invalid-request` where
 * the two differ.
 */
function requireVersion(ifMatch: string | undefined, expectedVersion: number | undefined): number {
  if (ifMatch === undefined) {
    if (expectedVersion !== undefined) return expectedVersion
    throw new Problem('version-required', {
      field: 'expectedVersion',
      detail: 'expectedVersion:',
      remedy: 'send-version',
    })
  }
  const match = /^\s*"(\d+)"\s*$/.exec(ifMatch)
  const version = match ? Number(match[1]) : undefined
  if (version === undefined || (expectedVersion !== undefined && expectedVersion !== version)) {
    throw new Problem('invalid-request', {
      field: 'If-Match',
      detail:
        'If-Match: send the task\'s ETag, e.g. If-Match: "3", without the W/ that a proxy may have added (RFC 9110: a weak tag matches nothing), and the same number as expectedVersion if you send both.',
    })
  }
  return version
}

/**
 * Adds the current task to the problem of a version conflict.
 * @param load reads the task as the conflict found it
 */
async function withCurrent<T>(act: () => Promise<T>, load: (task: Task) => Promise<TaskDocument>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error
    const { code, message: detail, extra, current } = error
    throw new Problem(code, {
      detail,
      ...(error.field === undefined ? {} : { field: error.field }),
      extra: { ...extra, current: taskView(await load(current)) },
    })
  }
}
