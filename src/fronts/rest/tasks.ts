import { type Request, Router } from 'express'
import { Problem } from '../../errors.ts'
import { addArtifact } from '../../tasks/add-artifact.ts'
import type { TaskContext } from '../../tasks/context.ts'
import { listTasks, nextPageToken } from '../../tasks/list-tasks.ts'
import { moveTask } from '../../tasks/move-task.ts'
import { historyRecent, loadTaskDocument, loadTaskDocuments, requireTask } from '../../tasks/read-task.ts'
import type { TaskDocument } from '../../tasks/task.ts'
import { readChunkPage, readMessagePage } from '../../tasks/task-pages.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { artifactInput, taskPartQuery, taskQuery, taskReadQuery, transitionInput } from './task-schemas.ts'
import { taskSummary, taskView } from './views.ts'

const pageSizeDefault = 50
/** The newest messages of each task in a list, unless the caller says how many. */
const listHistory = 10
const partDefault = 100

/** `/v1/tasks`: how a harness that runs no A2A server reads and works its tasks. */
export function taskRoutes(context: TaskContext): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const caller = callerOf(res)
    const query = parse(taskQuery, req.query)
    const { role, state, contextId, pageToken, pageSize = pageSizeDefault, historyLength = listHistory } = query
    const own = caller.kind === 'agent' ? caller.id : undefined
    const page = await listTasks(context.db, {
      projectId: caller.projectId,
      // Operators are one originator. Those of some projects see its tasks in the one that they act in.
      isWithin: caller.projects !== undefined,
      assigneeId: role === 'originator' ? undefined : own,
      originatorId: role === 'originator' ? caller.id : undefined,
      state,
      contextId,
      pageSize,
      pageToken,
    })
    const artifacts = query.includeArtifacts === 'true'
    const documents = await loadTaskDocuments(context.db, page.tasks, { historyLength, artifacts })
    const tasks = documents.map(artifacts ? taskView : taskSummary)
    res.json({ tasks, nextPageToken: nextPageToken(page, documents), totalSize: page.totalSize })
  })
  router.get('/:id', async (req, res) => {
    const { historyLength = historyRecent } = parse(taskReadQuery, req.query)
    const { task } = await requireTask(context.db, callerOf(res), req.params.id)
    const document = await loadTaskDocument(context.db, task, { historyLength })
    res.setHeader('ETag', `"${task.version}"`)
    // The tag names the version of the state, which artifacts do not move: it is for If-Match, never for a 304.
    res.setHeader('Cache-Control', 'no-store')
    res.json(taskView(document))
  })
  router.get('/:id/messages', async (req, res) => {
    const { limit = partDefault, pageToken = 0 } = parse(taskPartQuery, req.query)
    const { task } = await requireTask(context.db, callerOf(res), req.params.id)
    const { items, more } = await readMessagePage(context.db, task, { after: pageToken, limit })
    res.json({ messages: items.map(({ message }) => message), nextPageToken: more ? String(items.at(-1)!.seq) : '' })
  })
  router.get('/:id/artifacts', async (req, res) => {
    const { limit = partDefault, pageToken = 0 } = parse(taskPartQuery, req.query)
    const { task } = await requireTask(context.db, callerOf(res), req.params.id)
    const { items, more } = await readChunkPage(context.db, task, { after: pageToken, limit })
    const pieces = items.map(({ artifact, append, lastChunk }) => ({ artifact, append, lastChunk }))
    res.json({ pieces, nextPageToken: more ? String(items.at(-1)!.seq) : '' })
  })
  router.post('/:id/transitions', async (req, res) => {
    const input = parse(transitionInput, req.body)
    const expectedVersion = requireVersion(req, input.expectedVersion)
    const artifacts = input.artifacts?.map((artifact) => ({ artifact }))
    const document = await withCurrent(() =>
      moveTask(context, callerOf(res), req.params.id, {
        to: input.to,
        expectedVersion,
        message: input.message,
        artifacts,
      }),
    )
    res.setHeader('ETag', `"${document.task.version}"`)
    res.json(taskView(document))
  })
  router.post('/:id/artifacts', async (req, res) => {
    const input = parse(artifactInput, req.body)
    const { document, artifactId } = await withCurrent(() => addArtifact(context, callerOf(res), req.params.id, input))
    res.setHeader('ETag', `"${document.task.version}"`)
    res.status(201).json({ ...taskSummary(document), artifactId })
  })
  router.all(['/', '/:id'], onlyMethods('GET'))
  router.all('/:id/messages', onlyMethods('GET'))
  router.all('/:id/artifacts', onlyMethods('GET', 'POST'))
  router.all('/:id/transitions', onlyMethods('POST'))
  return router
}

/** The version that a move stands on: from the body, or from If-Match. Source: DESIGN §3.2. */
function requireVersion(req: Request, expectedVersion: number | undefined): number {
  const header = req.get('if-match')
  if (header === undefined) {
    if (expectedVersion !== undefined) return expectedVersion
    throw new Problem('version-required', {
      field: 'expectedVersion',
      detail: 'expectedVersion: send the version that you read the task at, in the body or as If-Match: "<version>".',
    })
  }
  const match = /^\s*(?:W\/)?"(\d+)"\s*$/.exec(header)
  const version = match ? Number(match[1]) : undefined
  if (version === undefined || (expectedVersion !== undefined && expectedVersion !== version)) {
    throw new Problem('invalid-request', {
      field: 'If-Match',
      detail:
        'If-Match: send the task\'s ETag as it is, e.g. If-Match: "3", and the same number as expectedVersion if you send both.',
    })
  }
  return version
}

/** A conflict is answered with the task as it is now. */
async function withCurrent<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof Problem) || error.extra.document === undefined) throw error
    const { document, ...extra } = error.extra
    throw new Problem(error.code, {
      detail: error.message,
      ...(error.field === undefined ? {} : { field: error.field }),
      extra: { ...extra, current: taskView(document as TaskDocument) },
    })
  }
}
