import { plant, type Stage } from '../../requests/plants.ts'
import type { ProcessAgent } from '../../support/process-client.ts'
import type { ProcessGateway } from '../../support/process-gateway.ts'

/** Makes the thing that a word stands for, which a request may destroy. undefined: the word stands for nothing. */
export type Spares = (word: string) => Promise<string | undefined>

/** The value that stands for things that could not be made. */
const none = 'none'

/** The stage of an agent with tasks and mail of a sender. Its operator works in a project where there is nothing to lose. */
export function stageOf(gateway: ProcessGateway, owner: ProcessAgent, sender: ProcessAgent, text: string): Stage {
  const as =
    (key: string): Stage['asOwner'] =>
    async (method, path, body, headers = {}) => {
      const { status, body: answer } = await gateway.call(method, path, body, { key, headers })
      if (status >= 300) throw new Error(`${method} ${path}: ${status}`)
      return answer
    }
  return {
    handle: owner.handle.slice(1),
    project: 'junk',
    other: '@lucy',
    text,
    url: 'http://127.0.0.1:9',
    asOwner: as(owner.key),
    asSender: as(sender.key),
    asOperator: as(gateway.adminKey),
  }
}

/** Things of mallory's, and of the operator's. */
export function sparesOf(gateway: ProcessGateway, mallory: ProcessAgent): Spares {
  const stage = stageOf(gateway, mallory, mallory, 'more')
  return async (word) => {
    if (word === 'spareMcp') return beginMcp(gateway, mallory)
    // A request may have changed what mallory accepts.
    if (word === 'spareTask') await stage.asOwner('PATCH', '/v1/agents/mallory', { inputModes: ['*/*'] })
    return Promise.resolve(plant(word, stage)).catch(() => none)
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
