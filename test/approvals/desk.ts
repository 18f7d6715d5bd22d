import { createHash } from 'node:crypto'
import { type Answer, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { personKey } from './person-key.ts'

export const bash = { command: 'rm -rf build && echo é ✓', description: 'Cleans up.' }

/** A request of Claude Code, as its hook sends it. */
export const request = (fields: object = {}) => ({
  nonce: crypto.randomUUID(),
  harness: 'claude',
  conversationId: 'c-1',
  kind: 'permission',
  tool: 'Bash',
  input: bash,
  expiresInSeconds: 600,
  ...fields,
})

/** The hash of what a request asks, as anybody can compute it. */
export function hashOf({ harness, conversationId, kind, tool, input }: ReturnType<typeof request>): string {
  return createHash('sha256')
    .update(JSON.stringify([harness, conversationId, kind, tool, input]))
    .digest('hex')
}

export interface Desk extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly donna: TestAgent
  /** The key of a person. */
  readonly anna: string
  ask(fields?: object): Promise<Answer>
  decide(id: string, body: object, key?: string): Promise<Answer>
  read(id: string, waitSeconds?: number, key?: string): Promise<Answer>
  close(id: string, body: object): Promise<Answer>
}

export async function openDesk(options: Parameters<typeof startGateway>[0] = {}): Promise<Desk> {
  const gateway = await startGateway(options)
  const donna = await gateway.addAgent('donna')
  const anna = await personKey(gateway, 'anna')
  return {
    gateway,
    donna,
    anna,
    ask: (fields) => gateway.call('POST', '/v1/approvals', request(fields), donna),
    decide: (id, body, key = anna) => gateway.call('POST', `/v1/approvals/${id}/decision`, body, { key }),
    read: (id, waitSeconds = 0, key = donna.key) =>
      gateway.call('GET', `/v1/approvals/${id}?waitSeconds=${waitSeconds}`, undefined, { key }),
    close: (id, body) => gateway.call('POST', `/v1/approvals/${id}/close`, body, donna),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}
