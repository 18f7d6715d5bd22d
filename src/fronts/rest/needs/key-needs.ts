import { identitiesOf } from '../../../registry/agents/identity.ts'
import { type EndingKey, listEndingKeys, listEndingOperatorKeys } from '../../../registry/callers/ending-keys.ts'
import { instant } from '../instant.ts'
import type { NeedFields } from './view.ts'
import type { NeedReader } from './waiting.ts'

/** A key is a need in this time before its end, in ms. */
const soonMs = 7 * 86_400_000
const keysMax = 10_000

/**
 * Reads the keys that end soon: an agent its own, an operator those of the agents of the project. An admin also has the operator keys of the project, any
 * other operator its own key.
 */
export async function keyNeeds({ db, caller, now }: NeedReader): Promise<NeedFields[]> {
  const { kind, id, projectId, role, keyId } = caller
  const ending = { now, until: now + soonMs, limit: keysMax }
  const isOperator = kind === 'operator'
  const [ofAgents, ofOperators] = await Promise.all([
    listEndingKeys(db, { ...ending, projectId, agentId: isOperator ? '' : id }),
    isOperator ? listEndingOperatorKeys(db, ending) : [],
  ])
  const identity = await identitiesOf(
    db,
    ofAgents.map(({ agentId }) => agentId),
  )
  const seen = ofOperators.filter(
    (key) => key.keyId === keyId || (role === 'admin' && (key.projects?.includes(projectId) ?? true)),
  )
  return [
    ...ofAgents.map((key) => keyNeed(key, identity(key.agentId), 'Its key')),
    ...seen.map((key) => keyNeed(key, null, `The operator key (${key.role})`)),
  ]
}

function keyNeed(key: EndingKey, agent: string | null, name: string): NeedFields {
  const { keyId, label, createdAt, expiresAt } = key
  const text = `${name} ${label === null ? keyId : `"${label}" (${keyId})`} ends. Make another one before that.`
  const since = instant(Math.max(createdAt, expiresAt - soonMs))
  return { kind: 'key', agent, since, text, keyId, until: instant(expiresAt) }
}
