import type { Approval } from '../../../approvals/approval.ts'
import { listApprovals } from '../../../approvals/approval-store.ts'
import {
  askApproval,
  decideApproval,
  endApproval,
  noteTaken,
  requireApproval,
  settleApprovals,
} from '../../../approvals/approvals.ts'
import { waitForApproval } from '../../../approvals/closing.ts'
import { revoked } from '../../../identity/open-calls.ts'
import { readBoundedPage } from '../../../lib/bounded-page.ts'
import { sizeLimits } from '../../../limits.ts'
import { identitiesOf, identityOf } from '../../../registry/agents/identity.ts'
import type { FrontContext } from '../../front-context.ts'
import { namedAgent } from '../named-agent.ts'
import { nextToken } from '../page.ts'
import { route } from '../route.ts'
import { approvalQuery, closeInput, decisionInput, newApproval, settleInput, waitQuery } from './input.ts'
import { type ApprovalView, approvalView } from './view.ts'

const limitDefault = 50
const ofAgent = { scope: 'work', operator: 'never', agent: 'own', peer: 'never', audited: 'no' } as const
const seen = { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' } as const

/** `/v1/approvals`: what harnesses ask a person, and the answers. Source: D52. */
export const approvalRoutes = [
  route('POST /v1/approvals', {
    name: 'approval.ask',
    what: 'ask for an approval',
    access: ofAgent,
    body: newApproval,
    status: 201,
    handle: async ({ caller, body, reply }, context): Promise<ApprovalView> => {
      const { approval, isNew } = await askApproval(context.approvals, caller, body)
      if (!isNew) reply.status = 200
      return viewOf(context, approval)
    },
  }),
  route('GET /v1/approvals', {
    name: 'approval.list',
    what: 'list approvals',
    access: seen,
    query: approvalQuery,
    handle: async ({ caller, query }, { db, clock }) => {
      const { agent, limit = limitDefault, pageToken = '', ...wanted } = query
      const named = await namedAgent(db, caller, agent)
      const of = { projectId: caller.projectId, agentId: named?.id }
      const now = clock.now()
      const { items, more } = await readBoundedPage(
        (last: Approval | undefined, count) =>
          listApprovals(db, of, { ...wanted, now }, { before: last?.id ?? pageToken, limit: count }),
        { limit, sizeMax: sizeLimits.page.max, sizeOf: ({ inputSize }) => inputSize },
      )
      const identity = await identitiesOf(db, [...new Set(items.map(({ agentId }) => agentId))])
      return {
        approvals: items.map((one) => approvalView(one, identity(one.agentId), now)),
        nextPageToken: nextToken(items, more, ({ id }) => id),
      }
    },
  }),
  route('GET /v1/approvals/:id', {
    name: 'approval.read',
    what: 'read an approval',
    access: seen,
    query: waitQuery,
    handle: async ({ caller, params, query, untilGone, slot }, context): Promise<ApprovalView> => {
      const found = await requireApproval(context.db, caller, params.id)
      const { waitSeconds = 0 } = query
      if (waitSeconds === 0) return viewOf(context, found)
      using openCall = context.openCalls.open(caller, 'blockingCalls')
      const signal = untilGone(context.stopping, openCall.signal)
      slot.release()
      const last = await waitForApproval(context.approvals, found, { timeoutMs: waitSeconds * 1000, signal })
      if (openCall.signal.aborted) throw revoked()
      return viewOf(context, last)
    },
  }),
  route('POST /v1/approvals/:id/decision', {
    name: 'approval.decide',
    what: 'decide for a person',
    access: { scope: 'approve', operator: 'any', agent: 'never', peer: 'never', audited: 'first' },
    body: decisionInput,
    handle: async ({ caller, params, body, reply }, context): Promise<ApprovalView> => {
      reply.target = `${params.id} ${body.answer} ${body.inputHash}`
      return viewOf(context, await decideApproval(context.approvals, caller, params.id, body))
    },
  }),
  route('POST /v1/approvals/:id/close', {
    name: 'approval.close',
    what: 'close an approval',
    access: ofAgent,
    body: closeInput,
    handle: async ({ caller, params: { id }, body: { state, outcome } }, context): Promise<ApprovalView> =>
      viewOf(
        context,
        state === undefined
          ? await noteTaken(context.approvals, caller, id, outcome!)
          : await endApproval(context.approvals, caller, id, state),
      ),
  }),
  route('POST /v1/approvals/settle', {
    name: 'approval.settle',
    what: 'close the approvals of a conversation',
    access: ofAgent,
    body: settleInput,
    handle: async ({ caller, body }, { approvals }) => ({ closed: await settleApprovals(approvals, caller, body) }),
  }),
] as const

async function viewOf({ db, clock }: FrontContext, approval: Approval): Promise<ApprovalView> {
  return approvalView(approval, await identityOf(db, approval.agentId), clock.now())
}
