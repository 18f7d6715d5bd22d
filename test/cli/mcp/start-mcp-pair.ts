import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport, type Transport } from '@modelcontextprotocol/server'
import { type McpOptions, serveMcp } from '../../../src/cli/mcp/serve-mcp.ts'
import { clientFetch } from '../../../src/client/client-fetch.ts'
import { atTestEnd } from '../../support/ends.ts'

interface McpPair {
  readonly client: Client
  /** The text that the server has written on standard error. */
  readonly said: string[]
  /** Closes the connection as the end of standard input does, and resolves when the server has ended. */
  close(): Promise<void>
}

type Fields = Partial<McpOptions> & { readonly url: string; readonly key: string }

/** `rouse mcp` in this process, with a transport that is not connected to anything. */
export function serveOnPair({ key, ...fields }: Fields) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const said: string[] = []
  const say = (text: string): void => void said.push(text)
  const ended = serveMcp({
    transport: ours,
    project: undefined,
    credentials: async () => ({ key }),
    fetch: clientFetch,
    env: {},
    process: { pid: 4711, startedAt: '2026-04-26T10:00:00.000Z' },
    warn: say,
    debug: say,
    ...fields,
  })
  const close = async () => {
    await ours.close()
    await ended
  }
  atTestEnd(close)
  return { theirs: theirs as Transport, said, close }
}

type Era = 'legacy' | 'modern'

/** The official client of one era, connected to `rouse mcp` in this process. */
export async function startMcpPair(era: Era, fields: Fields, name = 'a-client'): Promise<McpPair> {
  const { theirs, said, close } = serveOnPair(fields)
  const versionNegotiation = { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } as const
  const client = new Client({ name, version: '1.0.0' }, { versionNegotiation })
  await client.connect(theirs)
  return { client, said, close }
}
