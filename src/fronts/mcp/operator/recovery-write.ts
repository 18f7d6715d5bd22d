import { z } from 'zod'
import { address } from '../../rest/fields.ts'
import { gateInput } from '../../rest/recovery/input.ts'
import { type Actions, checkAction } from '../tools/actions.ts'
import { compact } from '../tools/compact.ts'
import { reachesOut } from '../tools/tool.ts'
import { operatorTool } from './operator-tool.ts'

const actions = {
  gate: { needs: [], takes: ['agent', 'nudges', 'restarts', 'reason', 'proof', 'backlog'] },
  end_park: { needs: ['agent'], takes: [] },
} as const satisfies Actions<string>

const fields = gateInput.shape

export const recoveryWrite = operatorTool({
  name: 'recovery_write',
  scopes: ['read', 'work', 'manage'],
  title: 'Change what recovery may do',
  description:
    'Decides what recovery may do by itself. gate: nudges (pulses into live sessions) and restarts (of harnesses), in the project or for one agent; tripped stops it until somebody looks. A gate that has tripped opens only with proof: the messageId of mail to the agent whose subject begins with "Wake test " (message_write) and that it has acknowledged since. And with backlog: what becomes of the mail that gathered (digest: sent as one; skip: left in the inbox; off: the gate stays shut). end_park: an agent whose harness was at a limit is woken again, with all that waits.',
  input: z.strictObject({
    action: z.enum(['gate', 'end_park']),
    agent: address.describe('Whose; with gate left out: the gate of the project').optional(),
    nudges: fields.nudges.describe('With gate'),
    restarts: fields.restarts.describe('With gate'),
    reason: fields.reason.describe('With gate: why, for those who look at it'),
    proof: fields.proof.describe('With gate, where it has tripped: MESSAGE:… of the wake test'),
    backlog: fields.backlog.describe('With gate, where it has tripped'),
  }),
  output: z.looseObject({
    action: z.string(),
    agent: z.string().optional(),
    nudges: z.string().optional(),
    restarts: z.string().optional(),
    reason: z.string().optional(),
  }),
  annotations: reachesOut,
  say: ({ action, agent = 'The project', nudges, restarts }) =>
    action === 'gate' ? `${agent}: nudges ${nudges}, restarts ${restarts}.` : `${agent} is no longer parked.`,
  run: async ({ rest }, given) => {
    checkAction(given, actions)
    const { action, ...body } = given
    if (action === 'gate') return compact({ action, ...(await rest('PATCH /v1/gate', { body })) })
    await rest('DELETE /v1/parked', { query: { agent: body.agent } })
    return { action, agent: body.agent }
  },
})
