import { startReceiver } from '../support/receiver.ts'
import { inWorld, stableHeaders } from './exchange.ts'
import { type Files, type FixtureCase, pretty } from './fixture.ts'
import { createPlaceholders } from './placeholders.ts'

/** v1.0's authentication; v0.3 has the same under another name. */
interface Authentication {
  readonly scheme: string
  readonly credentials?: string
}

const ofTheClient = { token: 'a-token-of-the-client', authentication: { scheme: 'Bearer', credentials: 'c2VjcmV0' } }

export const pushCases: readonly FixtureCase[] = [
  push('v1.0', 'An A2A v1.0 push notification: the assignee has begun.', '1.0', ofTheClient),
  push('v0.3', 'The same push notification for a config that was registered over A2A v0.3.', '0.3', ofTheClient),
  push(
    'gateway-token',
    'The same for a config that asks for `Bearer` and brings neither credentials nor a token: the gateway vouches for itself.',
    '1.0',
    { authentication: { scheme: 'Bearer' } },
  ),
]

interface Config {
  readonly token?: string
  readonly authentication: Authentication
}

function push(name: string, shows: string, version: '1.0' | '0.3', config: Config): FixtureCase {
  return { folder: `push/${name}`, shows, render: () => pushed(version, config) }
}

function pushed(version: '1.0' | '0.3', config: Config): Promise<Files> {
  return inWorld(async ({ gateway }) => {
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('@donna')
    const { id } = await gateway.send('@donna', 'Please review PR 7')
    const request = register(version, id, { url: receiver.url, ...config })
    const { status, body } = await gateway.call('POST', '/agents/donna', request, {
      headers: { 'A2A-Version': version },
    })
    if (status !== 200 || body.error) throw new Error(`No push config: ${JSON.stringify(body)}`)
    await gateway.move(donna, id, 'working', { message: 'On it.' })
    const [{ raw, headers }] = (await receiver.waitFor(1)) as [(typeof receiver.wakes)[0]]
    const stable = createPlaceholders()
    return { 'body.json': stable(raw), 'headers.json': stable(pretty(stableHeaders(headers))) }
  })
}

function register(version: '1.0' | '0.3', taskId: string, config: Config & { url: string }): object {
  if (version === '1.0') return rpc('CreateTaskPushNotificationConfig', { taskId, ...config })
  const { scheme, ...rest } = config.authentication
  const pushNotificationConfig = { ...config, authentication: { schemes: [scheme], ...rest } }
  return rpc('tasks/pushNotificationConfig/set', { taskId, pushNotificationConfig })
}

function rpc(method: string, params: object): object {
  return { jsonrpc: '2.0', id: 1, method, params }
}
