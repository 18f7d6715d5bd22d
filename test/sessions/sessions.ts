import type { JsonObject } from '../../src/lib/json.ts'
import type { Answer, TestAgent, TestGateway } from '../support/gateway.ts'

export const noon = Date.parse('2026-04-26T10:00:00.000Z')
export const minute = 60_000
export const at = (ms: number): string => new Date(ms).toISOString()

export function start(gateway: TestGateway, agent: TestAgent, fields: JsonObject = {}): Promise<Answer> {
  return gateway.call('POST', '/v1/sessions', { surface: 'claude_code', ...fields }, { key: agent.key })
}

/** Starts a session and answers its id. */
export async function begin(gateway: TestGateway, agent: TestAgent, fields: JsonObject = {}): Promise<string> {
  const { status, body } = await start(gateway, agent, fields)
  if (status > 201) throw new Error(`begin: ${JSON.stringify(body)}`)
  return body.sessionId
}

export function beat(gateway: TestGateway, agent: TestAgent, id: string, presence?: JsonObject): Promise<Answer> {
  return gateway.call('PUT', `/v1/sessions/${id}`, presence ? { presence } : {}, { key: agent.key })
}

export function end(gateway: TestGateway, agent: TestAgent, id: string): Promise<Answer> {
  return gateway.call('DELETE', `/v1/sessions/${id}`, undefined, { key: agent.key })
}

export function say(gateway: TestGateway, agent: TestAgent, presence: JsonObject): Promise<Answer> {
  return gateway.call('PUT', '/v1/presence', presence, { key: agent.key })
}

export async function sessionOf(gateway: TestGateway, id: string): Promise<Answer['body']> {
  return (await gateway.call('GET', `/v1/sessions/${id}`)).body
}

/** The signals of the gateway that came with an answer, or are in an inbox. */
export async function signalsOf(gateway: TestGateway, agent: TestAgent): Promise<Answer['body'][]> {
  const { body } = await gateway.call('GET', '/v1/inbox?order=oldest', undefined, { key: agent.key })
  return body.messages.filter((message: { from: string }) => message.from === '@gateway')
}
