import { Router } from 'express'
import { addApiKey, removeApiKey } from '../../identity/api-keys.ts'
import type { KeyContext } from '../../identity/end-keys.ts'
import { type RemovalContext, removeAgent } from '../../identity/remove-agent.ts'
import { readBoundedPage } from '../../lib/bounded-page.ts'
import type { Clock } from '../../lib/clock.ts'
import { outputLimits, pageLimits } from '../../limits.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import { listAgentsAfter, sizeOfAgent } from '../../registry/agents/agent-store.ts'
import { changeAgent, registerAgent, requireAgent } from '../../registry/agents/agents.ts'
import { listApiKeys } from '../../registry/callers/api-key-store.ts'
import { requireSelf } from '../../registry/callers/caller.ts'
import { listLiveSessions, newestLiveSession } from '../../registry/sessions/session-store.ts'
import { noteTarget } from '../access/rest-access.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { keyInput, keyRemoval, keyTerms, removalQuery } from './key-schemas.ts'
import { apiKeyView, instant } from './key-views.ts'
import { paged } from './page-token.ts'
import { agentChanges, agentInput, listQuery } from './schemas.ts'
import { teamView } from './session-views.ts'
import { agentView } from './views.ts'

/** `/v1/agents`: register, read, change, remove; and their keys. Who reads an agent sees what its harness is doing. */
export function agentRoutes(context: RemovalContext & KeyContext & { readonly clock: Clock }): Router {
  const { db, clock } = context
  const router = Router()
  router.post('/', async (req, res) => {
    const { agent, keyId, apiKey } = await registerAgent(context, callerOf(res), parse(agentInput, req.body))
    res
      .status(201)
      .location(`/v1/agents/${agent.handle.slice(1)}`)
      .json({ agent: agentView(agent), apiKey, keyId })
  })
  router.get('/', async (req, res) => {
    const { projectId } = callerOf(res)
    const { limit = pageLimits.listPage.max, pageToken = '' } = parse(listQuery, req.query)
    const live = new Map((await listLiveSessions(db, projectId)).map((session) => [session.agentId, session]))
    const read = (last: Agent | undefined, count: number) =>
      listAgentsAfter(db, projectId, last?.handle ?? pageToken, count)
    const page = { limit, sizeMax: outputLimits.agentPage.max, sizeOf: sizeOfAgent }
    const { items, more } = await readBoundedPage(read, page)
    const nextPageToken = more ? items.at(-1)!.handle : ''
    const agents = items.map((agent) => ({ ...agentView(agent), ...teamView(live.get(agent.id), clock.now()) }))
    res.json({ agents, nextPageToken })
  })
  router.get('/:handle', async (req, res) => {
    const agent = await requireAgent(db, callerOf(res).projectId, req.params.handle)
    res.json({ ...agentView(agent), ...teamView(await newestLiveSession(db, agent.id), clock.now()) })
  })
  router.patch('/:handle', async (req, res) => {
    res.json(agentView(await changeAgent(context, callerOf(res), req.params.handle, parse(agentChanges, req.body))))
  })
  router.delete('/:handle', async (req, res) => {
    await removeAgent(context, callerOf(res), req.params.handle, parse(removalQuery, req.query))
    res.status(204).end()
  })
  router.get('/:handle/keys', async (req, res) => {
    const caller = callerOf(res)
    const agent = await requireAgent(db, caller.projectId, req.params.handle)
    requireSelf(caller, agent.id, 'list its keys')
    const { limit = pageLimits.listPage.max, pageToken = '' } = parse(listQuery, req.query)
    const found = await listApiKeys(db, agent.id, pageToken, limit + 1)
    const { items, nextPageToken } = paged(found, limit, ({ keyId }) => keyId)
    res.json({ keys: items.map(apiKeyView), nextPageToken })
  })
  router.post('/:handle/keys', async (req, res) => {
    const input = keyTerms(parse(keyInput, req.body), clock.now())
    const made = await addApiKey(context, callerOf(res), req.params.handle, input)
    noteTarget(res, `${req.params.handle} ${made.keyId}`)
    res.status(201).json({ ...made, expiresAt: instant(made.expiresAt) })
  })
  router.delete('/:handle/keys/:keyId', async (req, res) => {
    const options = parse(keyRemoval, req.query)
    await removeApiKey(context, callerOf(res), req.params.handle, req.params.keyId, options)
    res.status(204).end()
  })
  router.all('/', onlyMethods('GET', 'POST'))
  router.all('/:handle', onlyMethods('GET', 'PATCH', 'DELETE'))
  router.all('/:handle/keys', onlyMethods('GET', 'POST'))
  router.all('/:handle/keys/:keyId', onlyMethods('DELETE'))
  return router
}
