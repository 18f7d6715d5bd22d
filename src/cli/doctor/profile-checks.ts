import { Refused, Unreachable } from '../../client/failure.ts'
import { createGatewayClient, type GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { overlapsOf } from '../../client/overlaps.ts'
import { operatorIdentity, type Profile } from '../../client/profile-file.ts'
import { broken, type Check, ok, unknown } from '../../harnesses/check.ts'
import { followsText } from '../output/who-view.ts'
import { readableFollowers, readableSubscriptions } from '../run/read-lists.ts'

const answerMaxMs = 5_000

/** Checks that the gateway of a profile answers and takes its key, that its agent has a session, and that its subscriptions are not degraded. */
export async function checkProfile(io: Io, name: string, { url, key, project, identity }: Profile): Promise<Check[]> {
  const credentials = async () => ({ key, source: `profile ${name}` })
  const gateway = createGatewayClient({ url, credentials, project, fetch: io.fetch, signal: io.signal })
  const reached = await checkGateway(gateway)
  if (reached.state !== 'ok') return [reached]
  const key_ = await checkKey(gateway, name)
  if (key_.state !== 'ok') return [reached, key_]
  const checks = [
    ...(identity === operatorIdentity
      ? []
      : [
          tried('session', checkSession(gateway)),
          tried('routes', checkRoutes(gateway)),
          tried('followed', checkFollowed(gateway)),
        ]),
    tried('subscriptions', checkSubscriptions(gateway)),
  ]
  return [reached, key_, ...(await Promise.all(checks)).filter((check) => check !== undefined)]
}

async function checkGateway(gateway: GatewayClient): Promise<Check> {
  try {
    await gateway.request('GET', '/readyz', { timeoutMs: answerMaxMs })
    return ok('gateway', `${gateway.url} is ready`)
  } catch (error) {
    if (error instanceof Refused) return broken('gateway', `${gateway.url} is not ready`, `rouse health ${gateway.url}`)
    if (!(error instanceof Unreachable)) throw error
    return broken('gateway', error.message.split('\n')[0]!, 'rouse serve')
  }
}

async function checkKey(gateway: GatewayClient, profile: string): Promise<Check> {
  try {
    const { identity, expiresAt } = await gateway.call('GET /v1/whoami', { timeoutMs: answerMaxMs })
    return ok('key', `of ${identity}${expiresAt ? `, until ${expiresAt}` : ''} (profile ${profile})`)
  } catch (error) {
    if (!(error instanceof Refused)) return unknown('key', (error as Error).message.split('\n')[0]!)
    return broken(
      'key',
      `profile ${profile}: ${error.explanation}`,
      `rouse login --profile ${profile} --url ${gateway.url}`,
    )
  }
}

async function checkSession(gateway: GatewayClient): Promise<Check> {
  const { sessions } = await gateway.call('GET /v1/sessions', { query: { status: 'live' }, timeoutMs: answerMaxMs })
  const [session] = sessions
  if (!session) return unknown('session', 'none is live: it begins when the harness calls a tool, or at its first hook')
  return ok('session', `${session.surface} is ${session.presence.state}, last seen ${session.lastSeenAt}`)
}

async function checkSubscriptions(gateway: GatewayClient): Promise<Check> {
  const all = await readableSubscriptions(gateway)
  const [first, ...others] = all.filter(({ status }) => status === 'degraded')
  if (!first) return ok('subscriptions', `${all.length}, none is degraded`)
  const which = `${first.agentIdentity} ${first.trigger}${first.reason ? ` (${first.reason})` : ''}`
  const more = others.length > 0 ? `, and ${others.length} more: rouse status` : ''
  return broken(
    'subscriptions',
    `degraded: ${which}${more}`,
    `rouse sub update ${first.subscriptionId} --status active`,
  )
}

/** A check that could not be made has found nothing. */
async function tried(name: string, check: Promise<Check | undefined>): Promise<Check | undefined> {
  try {
    return await check
  } catch (error) {
    return unknown(name, (error as Error).message.split('\n')[0]!)
  }
}

/** Two routes of an agent give one mail two turns. Undefined: none do. */
async function checkRoutes(gateway: GatewayClient): Promise<Check | undefined> {
  const { subscriptions } = await gateway.call('GET /v1/wake-subscriptions', { timeoutMs: answerMaxMs })
  const others = new Set(subscriptions.flatMap(overlapsOf))
  if (others.size === 0) return undefined
  const [one = ''] = others
  return broken('routes', `one mail starts ${others.size} turns: ${[...others].join(', ')}`, `rouse sub rm ${one}`)
}

/** Says what its client follows. Undefined: nothing. */
async function checkFollowed(gateway: GatewayClient): Promise<Check | undefined> {
  const followers = await readableFollowers(gateway)
  return followers.length === 0 ? undefined : ok('followed', followsText(followers))
}
