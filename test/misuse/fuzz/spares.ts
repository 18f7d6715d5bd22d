import type { ProcessAgent } from '../../support/process-client.ts'
import type { ProcessGateway } from '../../support/process-gateway.ts'

/** Each makes a thing that a request may destroy, and returns its id. */
export type Spares = Readonly<Record<string, () => Promise<string>>>

/** The values that stand for things that could not be made. */
const none = 'none'

/** Things of mallory's, and of the operator in the project where there is nothing to lose. */
export function sparesOf(gateway: ProcessGateway, mallory: ProcessAgent): Spares {
  const making =
    (key: string, path: string, body: () => object, field: string): (() => Promise<string>) =>
    async () => {
      const answer = await gateway.call('POST', path, body(), { key })
      return String(answer.body?.[field] ?? none)
    }
  const reader = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
  let made = 0
  return {
    spareSession: making(mallory.key, '/v1/sessions', () => ({ surface: 'cursor', drain: false }), 'sessionId'),
    spareKey: making(mallory.key, '/v1/agents/mallory/keys', () => ({}), 'keyId'),
    spareReader: making(mallory.key, '/v1/wake-subscriptions', () => reader, 'subscriptionId'),
    sparePermission: making(
      mallory.key,
      '/v1/permissions',
      () => ({ grantee: '@lucy', scope: 'CAN_REPLY_TO' }),
      'permissionId',
    ),
    spareOperatorKey: making(
      gateway.adminKey,
      '/v1/operator-keys',
      () => ({ role: 'viewer', projects: ['junk'] }),
      'keyId',
    ),
    async spareTask() {
      // A request may have changed what mallory accepts.
      await gateway.call('PATCH', '/v1/agents/mallory', { inputModes: ['*/*'] }, { key: mallory.key })
      const task = await gateway.send(mallory, 'more', undefined, { key: mallory.key }).catch(() => undefined)
      return task?.id ?? none
    },
    async spareClaim() {
      const ref = `claim-${++made}`
      await gateway.call('POST', '/v1/claims', { ref }, { key: mallory.key })
      return ref
    },
    async spareAgent() {
      const handle = `spare-${++made}`
      await gateway.call('POST', '/v1/agents', { handle, project: 'junk' })
      return handle
    },
    spareMcp: () => beginMcp(gateway, mallory),
  }
}

/** Begins an MCP session, and returns its id. */
export async function beginMcp(gateway: ProcessGateway, { key }: ProcessAgent): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } }
  const response = await fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  await response.text()
  return response.headers.get('mcp-session-id') ?? none
}
