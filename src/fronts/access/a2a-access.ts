import { type ErrorRequestHandler, type Request, type RequestHandler, Router } from 'express'
import type { AuditEntry, AuditFront } from '../../audit/entry.ts'
import { Problem, toProblem } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import { type Caller, nameIn } from '../../registry/callers/caller.ts'
import type { A2aCall } from '../a2a/call.ts'
import type { FrontContext } from '../front-context.ts'
import { type A2aOperation, a2aOperations, rpcOperation } from './a2a-operations.ts'
import { authorise } from './authorise.ts'
import { isRefusal, whenToRecord } from './when-to-record.ts'

/**
 * Names the operation of an A2A request over HTTP and refuses what the table does not let this caller do. A request that is no
 * operation is not found.
 */
export function authoriseA2a(): RequestHandler[] {
  const byPath = nameByPath()
  return [(req, res, next) => (req.path === '/' ? next() : byPath(req, res, next)), authoriseNamed]
}

const authoriseNamed: RequestHandler = (req, res, next) => {
  if (req.path === '/' && req.method === 'POST' && isJsonObject(req.body)) {
    res.locals.operation = rpcOperation(String(req.body.method), isLegacyCall(req))
  }
  const operation = res.locals.operation as A2aOperation | undefined
  if (!operation) return refuseOther(req, res, next)
  authorise(operation, res.locals.caller as Caller)
  next()
}

/** For the end of an agent's routes: what is no operation. */
export const refuseOther: RequestHandler = (req) => {
  throw new Problem('not-found', {
    detail: `There is no A2A operation ${req.method} ${req.path}. The agent card names the interfaces.`,
  })
}

/** Finds the operation of a path as the SDK's router does: v0.3's paths first when v0.3 is spoken, then those of v1.0. */
function nameByPath(): Router {
  const router = Router()
  const legacy = Router()
  for (const operation of a2aOperations) {
    for (const route of operation.legacyHttp) addRoute(legacy, route, operation)
    // Not below a tenant, as the SDK's router has them too: the address names the agent.
    for (const route of operation.http) addRoute(router, route, operation)
  }
  return Router().use((req, res, next) => (isLegacyCall(req) ? legacy(req, res, next) : next()), router)
}

function addRoute(router: Router, route: string, operation: A2aOperation): void {
  const [method = '', path = ''] = route.split(' ')
  router[method.toLowerCase() as 'get' | 'post' | 'delete'](path, (_req, res, next) => {
    res.locals.operation ??= operation
    next()
  })
}

function isLegacyCall(req: Request): boolean {
  return (req.get('a2a-version') || '0.3') === '0.3'
}

/** Records a request that was refused before its operation began. */
export function recordRefusedA2a({ audit, clientAddress }: FrontContext): ErrorRequestHandler {
  return (error, req, res, next) => {
    const { code } = toProblem(error)
    if (isRefusal(code)) {
      const caller = res.locals.caller as Caller | undefined
      const agent = res.locals.agent as Agent | undefined
      const front = req.path === '/' ? 'json-rpc' : 'http+json'
      const operation = (res.locals.operation as A2aOperation | undefined)?.name ?? anyCall
      const address = clientAddress(req.socket.remoteAddress, req.get('x-forwarded-for'))
      audit.refuse(callEntry({ caller, agent, address, front, operation, outcome: code }))
    }
    next(error)
  }
}

/** The name in the audit of an A2A call whose operation was not known yet. */
export const anyCall = 'a2a.call'

export function callEntry(call: {
  caller: Caller | undefined
  agent: Agent | undefined
  address: string
  front: AuditFront
  operation: string
  outcome: string
}): AuditEntry {
  const { caller, agent, address, front, operation, outcome } = call
  const project = agent?.projectId ?? caller?.projectId ?? ''
  return {
    project: caller ? project : '',
    actor: caller ? nameIn(project, caller) : '',
    callerId: caller?.id ?? '',
    keyId: caller?.keyId ?? '',
    address,
    front,
    operation,
    target: agent?.handle ?? '',
    outcome,
  }
}

/**
 * Records how an A2A call ended, once. Resolves when it may be answered.
 * @param target what it was done to: the id of a task, the handle of an agent
 */
export async function recordCall(
  { audit }: Pick<FrontContext, 'audit'>,
  call: A2aCall,
  outcome: string,
  target: string,
): Promise<void> {
  if (call.isRecorded) return
  const when = whenToRecord(call.operation, call.caller, outcome)
  if (when === 'no') return
  call.isRecorded = true
  const { caller, agent, address, front, operation } = call
  const entry = { ...callEntry({ caller, agent, address, front, operation: operation.name, outcome }), target }
  if (when === 'first') await audit.keep(entry)
  else if (when === 'soon') audit.note(entry)
  else audit.refuse(entry)
}
