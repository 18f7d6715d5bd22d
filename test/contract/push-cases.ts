import { startReceiver } from '../support/receiver.ts'
import { inWorld, stableHeaders } from './exchange.ts'
import { type Files, type FixtureCase, pretty } from './fixture.ts'
import { createPlaceholders } from './placeholders.ts'

export const pushCases: readonly FixtureCase[] = [
  push('v1.0', 'An A2A v1.0 push notification: the assignee has begun.', '1.0'),
  push('v0.3', 'The same push notification for a config that was registered over A2A v0.3.', '0.3'),
]

function push(name: string, shows: string, version: '1.0' | '0.3'): FixtureCase {
  return { folder: `push/${name}`, shows, render: () => pushed(version) }
}

function pushed(version: '1.0' | '0.3'): Promise<Files> {
  return inWorld(async ({ gateway }) => {
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('@donna')
    const { id } = await gateway.send('@donna', 'Please review PR 7')
    const { status, body } = await gateway.call('POST', '/agents/donna', register(version, id, receiver.url), {
      headers: { 'A2A-Version': version },
    })
    if (status !== 200 || body.error) throw new Error(`No push config: ${JSON.stringify(body)}`)
    await gateway.move(donna, id, 'working', { message: 'On it.' })
    const [{ raw, headers }] = (await receiver.waitFor(1)) as [(typeof receiver.wakes)[0]]
    const stable = createPlaceholders()
    return { 'body.json': stable(raw), 'headers.json': stable(pretty(stableHeaders(headers))) }
  })
}

function register(version: '1.0' | '0.3', taskId: string, url: string): object {
  const config = { url, token: 'a-token-of-the-client' }
  const authentication = {
    '1.0': { scheme: 'Bearer', credentials: 'c2VjcmV0' },
    '0.3': { schemes: ['Bearer'], credentials: 'c2VjcmV0' },
  }
  return version === '1.0'
    ? rpc('CreateTaskPushNotificationConfig', { taskId, ...config, authentication: authentication[version] })
    : rpc('tasks/pushNotificationConfig/set', {
        taskId,
        pushNotificationConfig: { ...config, authentication: authentication[version] },
      })
}

function rpc(method: string, params: object): object {
  return { jsonrpc: '2.0', id: 1, method, params }
}
