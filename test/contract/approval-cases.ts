import type { JsonObject } from '../../src/lib/json.ts'
import type { TestAgent } from '../support/gateway.ts'
import { inWorld, type Request, type World } from './exchange.ts'
import { ask, done, get, problem, rest } from './rest-requests.ts'
import { together } from './together.ts'

interface Scene extends World {
  readonly donna: TestAgent
  /** The key of a person who may approve. */
  readonly anna: Pick<TestAgent, 'key'>
}

let count = 0
const request = (fields: JsonObject = {}) => ({
  nonce: `request-${++count}`,
  harness: 'claude',
  conversationId: 'conversation-1',
  kind: 'permission',
  tool: 'Bash',
  input: { command: 'npm test', description: 'Runs the tests.' },
  cwd: '/work/shop',
  mode: 'default',
  expiresInSeconds: 600,
  ...fields,
})

async function arrange(world: World): Promise<Scene> {
  const donna = await world.gateway.addAgent('@donna')
  const person = { role: 'manager', label: 'anna', approve: true }
  const { operatorKey } = await done(world.gateway, ask('POST', '/v1/operator-keys', person))
  return { ...world, donna, anna: { key: operatorKey! } }
}

const asked = ({ gateway, donna }: Scene, fields?: JsonObject) =>
  done(gateway, ask('POST', '/v1/approvals', request(fields), donna))

const decision = (id: unknown, body: object, { anna }: Pick<Scene, 'anna'>): Request =>
  ({ ...ask('POST', `/v1/approvals/${id}/decision`, body), key: anna.key }) as Request

async function decided(scene: Scene): Promise<Record<string, string>> {
  const { approvalId, inputHash } = await asked(scene)
  return done(scene.gateway, decision(approvalId, { answer: 'once', inputHash }, scene))
}

/** What a harness asks its person, and the answers. */
export const approvalCases = [
  ...together<Scene>(
    (play) => inWorld(async (world) => play(await arrange(world))),
    [
      rest('approvals/ask', 'A harness asks whether it may do its next step.', ({ donna }) =>
        ask('POST', '/v1/approvals', { ...request(), nonce: 'request-1' }, donna),
      ),
      rest('approvals/list', 'What is asked, the newest first.', ({ donna }) => get('/v1/approvals?state=open', donna)),
      rest('approvals/read', 'One of them.', async (scene) =>
        get(`/v1/approvals/${(await asked(scene)).approvalId}`, scene.donna),
      ),
      rest('approvals/allow', 'A person allows it once, on the hash of what was shown.', async (scene) => {
        const { approvalId, inputHash } = await asked(scene)
        return decision(approvalId, { answer: 'once', inputHash }, scene)
      }),
      rest('approvals/deny', 'A person denies it, with a sentence for the model.', async (scene) => {
        const { approvalId, inputHash } = await asked(scene)
        return decision(approvalId, { answer: 'deny', message: 'Not on the main branch.', inputHash }, scene)
      }),
      rest('approvals/answer', 'A person answers a question of the harness.', async (scene) => {
        const question = { question: 'Which database?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] }
        const fields = { kind: 'question', tool: 'AskUserQuestion', input: { questions: [question] } }
        const { approvalId, inputHash } = await asked(scene, fields)
        return decision(approvalId, { answer: 'answer', answers: { 'Which database?': 'Postgres' }, inputHash }, scene)
      }),
      rest('approvals/close', 'The harness has taken the answer.', async (scene) =>
        ask('POST', `/v1/approvals/${(await decided(scene)).approvalId}/close`, { outcome: 'taken' }, scene.donna),
      ),
      rest(
        'approvals/settle',
        'The person has answered at the terminal: nothing of the conversation is open any more.',
        ({ donna }) =>
          ask('POST', '/v1/approvals/settle', { harness: 'claude', conversationId: 'conversation-1' }, donna),
      ),
    ],
  ),
  problem('approval-answered', 'Somebody else was first.', async (world) => {
    const scene = await arrange(world)
    const { approvalId, inputHash } = await decided(scene)
    return decision(approvalId, { answer: 'deny', inputHash }, scene)
  }),
  problem('approval-changed', 'The hash is not of what the harness asks.', async (world) => {
    const scene = await arrange(world)
    const { approvalId } = await asked(scene)
    return decision(approvalId, { answer: 'once', inputHash: '0'.repeat(64) }, scene)
  }),
]
