import { Router } from 'express'
import type { Clock } from '../../lib/clock.ts'
import { listAgents } from '../../registry/agent-store.ts'
import {
  addApiKey,
  changeAgent,
  type RegistryContext,
  registerAgent,
  removeAgent,
  removeApiKey,
  requireAgent,
} from '../../registry/agents.ts'
import { listApiKeys } from '../../registry/api-key-store.ts'
import { requireSelf } from '../../registry/caller.ts'
import { listLiveSessions, newestLiveSession } from '../../registry/session-store.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { agentChanges, agentInput, keyInput } from './schemas.ts'
import { teamView } from './session-views.ts'
import { agentView } from './views.ts'

/** `/v1/agents`: register, read, change, remove; and their keys. Who reads an agent sees what its harness is doing. */
export function agentRoutes(context: RegistryContext & { readonly clock: Clock }): Router {
  const { db, clock } = context
  const router = Router()
  router.post('/', async (req, res) => {
    const { agent, keyId, apiKey } = await registerAgent(context, callerOf(res), parse(agentInput, req.body))
    res
      .status(201)
      .location(`/v1/agents/${agent.handle.slice(1)}`)
      .json({ agent: agentView(agent), apiKey, keyId })
  })
  router.get('/', async (_req, res) => {
    const { projectId } = callerOf(res)
    const live = new Map((await listLiveSessions(db, projectId)).map((session) => [session.agentId, session]))
    const agents = await listAgents(db, projectId)
    res.json({ agents: agents.map((agent) => ({ ...agentView(agent), ...teamView(live.get(agent.id), clock.now()) })) })
  })
  router.get('/:handle', async (req, res) => {
    const agent = await requireAgent(db, callerOf(res).projectId, req.params.handle)
    res.json({ ...agentView(agent), ...teamView(await newestLiveSession(db, agent.id), clock.now()) })
  })
  router.patch('/:handle', async (req, res) => {
    res.json(agentView(await changeAgent(context, callerOf(res), req.params.handle, parse(agentChanges, req.body))))
  })
  router.delete('/:handle', async (req, res) => {
    await removeAgent(context, callerOf(res), req.params.handle)
    res.status(204).end()
  })
  router.get('/:handle/keys', async (req, res) => {
    const caller = callerOf(res)
    const agent = await requireAgent(db, caller.projectId, req.params.handle)
    requireSelf(caller, agent.id, 'list its keys')
    const instant = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
    const keys = (await listApiKeys(db, agent.id)).map((key) => ({
      ...key,
      createdAt: instant(key.createdAt),
      revokedAt: instant(key.revokedAt),
    }))
    res.json({ keys })
  })
  router.post('/:handle/keys', async (req, res) => {
    const { label } = parse(keyInput, req.body)
    res.status(201).json(await addApiKey(context, callerOf(res), req.params.handle, label ?? null))
  })
  router.delete('/:handle/keys/:keyId', async (req, res) => {
    await removeApiKey(context, callerOf(res), req.params.handle, req.params.keyId)
    res.status(204).end()
  })
  router.all('/', onlyMethods('GET', 'POST'))
  router.all('/:handle', onlyMethods('GET', 'PATCH', 'DELETE'))
  router.all('/:handle/keys', onlyMethods('GET', 'POST'))
  router.all('/:handle/keys/:keyId', onlyMethods('DELETE'))
  return router
}
