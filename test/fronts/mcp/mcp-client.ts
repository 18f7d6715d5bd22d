import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import type { CallApi } from '../../../src/fronts/mcp/call-api.ts'
import { createMcpServer } from '../../../src/fronts/mcp/create-mcp-server.ts'

/** The official client, connected to the tools in this process. Nothing stays open when it is dropped. */
export async function connectMcp(call: CallApi, identity?: string): Promise<Client> {
  const server = createMcpServer({ call, identity, version: '0.0.0' })
  const client = new Client({ name: 'test', version: '0.0.0' })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await server.connect(ours)
  await client.connect(theirs)
  return client
}
