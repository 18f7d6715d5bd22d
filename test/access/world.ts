import type { JsonObject } from '../../src/lib/json.ts'
import { type AgentScope, agentScopes } from '../../src/words/callers.ts'
import { startTrusting } from '../identity/trusting.ts'
import type { Stage } from '../requests/plants.ts'
import { type Answer, liftRates, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startIssuer } from '../support/issuer.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

/**
 * The callers. `mike`: another agent of the project. `gina`: one with donna's permissions. `zoe`: an agent of another project.
 * `viewer`: an operator who reads. `manager`: an operator of donna's project alone. `manager elsewhere`: one of zoe's project alone. `anna`: a manager of donna's project who may approve.
 * `donna, by token`: a token of a trusted issuer, with all the scopes of donna's key.
 */
export type Who =
  | 'nobody'
  | 'unknown key'
  | 'revoked key'
  | 'expired key'
  | 'operator'
  | 'viewer'
  | 'manager'
  | 'manager elsewhere'
  | 'anna'
  | 'donna'
  | 'donna, by token'
  | 'mike'
  | 'gina'
  | 'zoe'
  | `donna, ${AgentScope} only`

export const everybody: readonly Who[] = [
  'nobody',
  'unknown key',
  'revoked key',
  'expired key',
  'operator',
  'viewer',
  'manager',
  'manager elsewhere',
  'anna',
  'donna',
  'donna, by token',
  'mike',
  'gina',
  'zoe',
  ...agentScopes.map((scope) => `donna, ${scope} only` as const),
]

/** Callers without a valid key. */
export const strangers: readonly Who[] = ['nobody', 'unknown key', 'revoked key', 'expired key']

/** Donna, with all scopes. */
export const isAllOfDonna = (who: Who): boolean => who === 'donna' || who === 'donna, by token'

/** Texts that only resources of donna contain. */
export const secret = 'CANARY-of-donna'
/** A text that her whole project may read. */
export const projectSecret = 'CANARY-of-the-project'

type Heads = Readonly<Record<string, number>>

/** A gateway with everything that donna has in it, and one key for each who calls. */
export interface World extends AsyncDisposable, Stage {
  readonly gateway: TestGateway
  readonly donna: TestAgent
  readonly mike: TestAgent
  keyOf(who: Who): string | null
  /** Another token of donna, by the same issuer. */
  newToken(): Promise<string>
  /** The log heads of both projects. */
  heads(): Promise<Heads>
  /** The events that callers have appended since. */
  changesSince(heads: Heads): Promise<string[]>
}

export async function startWorld(): Promise<World> {
  const receiver = await startReceiver()
  const env = { ROUSE_MESSAGES_PER_MINUTE: '0', ROUSE_STORM_TURNS: '0', ROUSE_STORM_MESSAGES: '0' }
  // All callers come from one address, and half of them with a wrong key.
  const options = { env: { ...env, ROUSE_WRONG_KEYS_PER_MINUTE: '0' } }
  const issuer = await startIssuer()
  const gateway = await startTrusting(issuer, { claims: { scopes: 'scope' } }, options)
  // Without the claim a token has no `mint`. It lasts longer than the tests.
  const newToken = () => {
    const claims = { sub: 'donna', jti: crypto.randomUUID(), scope: agentScopes.join(' ') }
    return issuer.sign({ ...claims, exp: Math.floor(Date.now() / 1000) + 86_400 })
  }
  await liftRates(gateway)
  const donna = await gateway.addAgent('donna', { description: projectSecret })
  const [mike, gina] = [await gateway.addAgent('mike'), await gateway.addAgent('gina')]
  await must(gateway.call('POST', '/v1/projects', { project: 'elsewhere' }))
  const zoe = (await must(gateway.call('POST', '/v1/agents', { handle: 'zoe', project: 'elsewhere' }))).apiKey
  for (const scope of ['CAN_READ_INBOX_OF', 'CAN_MANAGE_SUBSCRIPTIONS_OF', 'CAN_REPLY_TO']) {
    await must(gateway.call('POST', '/v1/permissions', { grantee: 'gina', scope }, { key: donna.key }))
  }
  const revoked = await must(gateway.call('POST', '/v1/agents/donna/keys', { label: secret }, { key: donna.key }))
  await gateway.call('DELETE', `/v1/agents/donna/keys/${revoked.keyId}`, undefined, { key: donna.key })
  const operatorKey = async (fields: JsonObject) =>
    // The audit of a project shows the labels of the operators that acted in it.
    String((await must(gateway.call('POST', '/v1/operator-keys', { ...fields, label: 'acts here' }))).operatorKey)
  const keys = new Map<Who, string | null>([
    ['nobody', null],
    ['unknown key', 'rk_unknown'],
    ['revoked key', String(revoked.apiKey)],
    ['expired key', await expiredKey(gateway, donna)],
    ['operator', gateway.adminKey],
    ['viewer', await operatorKey({ role: 'viewer' })],
    ['manager', await operatorKey({ role: 'manager', projects: ['default'] })],
    ['manager elsewhere', await operatorKey({ role: 'manager', projects: ['elsewhere'] })],
    ['anna', await operatorKey({ role: 'manager', projects: ['default'], approve: true })],
    ['donna', donna.key],
    ['donna, by token', await newToken()],
    ['mike', mike.key],
    ['gina', gina.key],
    ['zoe', String(zoe)],
  ])
  for (const scope of agentScopes) {
    const made = gateway.call('POST', '/v1/agents/donna/keys', { label: secret, scopes: [scope] }, { key: donna.key })
    keys.set(`donna, ${scope} only`, String((await must(made)).apiKey))
  }
  const asOperator: Stage['asOperator'] = (method, path, body, headers = {}) =>
    must(gateway.call(method, path, body, { headers }))
  return {
    gateway,
    donna,
    mike,
    handle: 'donna',
    project: 'default',
    other: 'default:mike',
    text: secret,
    url: receiver.url,
    asOperator,
    asSender: asOperator,
    keyOf: (who) => keys.get(who)!,
    newToken,
    asOwner: (method, path, body) => must(gateway.call(method, path, body, { key: donna.key })),
    async heads() {
      const heads: Record<string, number> = {}
      for (const project of projects) heads[project] = (await readLog(gateway, project, 'limit=1')).lastLogId
      return heads
    },
    async changesSince(heads) {
      const changes: string[] = []
      for (const project of projects) {
        const { events } = await readLog(gateway, project, `limit=1000&since=${heads[project]}`)
        for (const { type, actor } of events)
          if (!isEngine(actor, type)) changes.push(`${project}: ${type} by ${actor}`)
      }
      return changes
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await receiver[Symbol.asyncDispose]()
      await issuer[Symbol.asyncDispose]()
    },
  }
}

/** Records of the gateway itself: deliveries of earlier calls, and the end of keys. */
function isEngine(actor: string, type: string): boolean {
  return actor === '@gateway' && /^(wake|subscription|key)\./.test(type)
}

const projects = ['default', 'elsewhere']

async function readLog(gateway: TestGateway, project: string, query: string) {
  const headers = { 'Rouse-Project': project }
  return (await gateway.call('GET', `/v1/events?${query}`, undefined, { headers })).body
}

export async function must(answer: Promise<Answer>): Promise<JsonObject> {
  const { status, body } = await answer
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

async function expiredKey(gateway: TestGateway, { handle, key }: TestAgent): Promise<string> {
  const { apiKey } = await must(
    gateway.call('POST', `/v1/agents/${handle.slice(1)}/keys`, { expiresInSeconds: 1 }, { key }),
  )
  await until(
    () => gateway.call('GET', '/v1/agents', undefined, { key: String(apiKey) }),
    ({ status }) => status === 401,
  )
  return String(apiKey)
}
