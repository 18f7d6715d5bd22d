import type { Client } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../../src/lib/json.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../../support/gateway.ts'
import { fetchCallApi } from './fetch-call-api.ts'
import { connectMcp } from './mcp-client.ts'

/** The outcome of a call of a tool. */
interface ToolAnswer {
  readonly isError: boolean
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever a tool returns
  readonly data: any
}

/** An agent with a live session, and an MCP client that speaks for it. */
interface Desk extends TestAgent {
  readonly sessionId: string
  readonly client: Client
  run(tool: string, args?: JsonObject): Promise<ToolAnswer>
}

/** A gateway with agents at their desks. */
export interface Office extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly donna: Desk
  readonly bob: Desk
}

export async function openOffice(): Promise<Office> {
  const gateway = await startGateway({ env: { ROUSE_MESSAGES_PER_MINUTE: '0', ROUSE_STORM_TURNS: '0' } })
  await liftRates(gateway)
  const donna = await sitDown(
    gateway,
    await gateway.addAgent('donna', { skills: [{ id: 'r', name: 'Review', tags: ['code'] }] }),
  )
  const bob = await sitDown(gateway, await gateway.addAgent('bob'))
  for (const desk of [donna, bob]) await desk.run('whoami')
  return { gateway, donna, bob, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

export async function sitDown(gateway: TestGateway, agent: TestAgent): Promise<Desk> {
  const { body } = await gateway.call('POST', '/v1/sessions', { surface: 'test' }, { key: agent.key })
  const client = await connectMcp(fetchCallApi(gateway.url, agent.key), agent.handle)
  return { ...agent, sessionId: body.sessionId, client, run: (tool, args) => runTool(client, tool, args) }
}

export async function runTool(client: Client, name: string, args: JsonObject = {}): Promise<ToolAnswer> {
  const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: args })
  const [first] = content as { text: string }[]
  return { isError, text: first?.text ?? '', data: structuredContent }
}
