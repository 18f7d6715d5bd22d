import type { JsonObject } from '../../src/lib/json.ts'
import { exchange, inWorld, record } from './exchange.ts'
import { type Files, type FixtureCase, pretty } from './fixture.ts'
import { openly } from './rest-requests.ts'

export const cardCases: readonly FixtureCase[] = [
  card('v1.0', 'An agent card of A2A v1.0, its signatures taken out: ECDSA never gives the same bytes twice.', {
    'A2A-Version': '1.0',
  }),
  card('v0.3', 'The same agent’s card in A2A v0.3, its signatures taken out.', { 'A2A-Version': '0.3' }),
  card(
    'both',
    'The same agent’s card for a client that names no version: the fields of both, its signatures taken out.',
  ),
  {
    folder: 'cards/jwks',
    shows: 'The keys that cards are signed with, as `/.well-known/jwks.json` publishes them.',
    render: () => exchange(() => openly('/.well-known/jwks.json')),
  },
  {
    folder: 'catalog/ai-catalog',
    shows: 'The MCP server and the public agents, for everybody.',
    render: () =>
      exchange(async ({ gateway }) => {
        await gateway.addAgent('@donna', { access: 'public' })
        return openly('/.well-known/ai-catalog.json')
      }),
  },
  {
    folder: 'catalog/did',
    shows: 'The DID document with the keys that AI Catalogs are signed with.',
    render: () => exchange(() => openly('/.well-known/did.json')),
  },
  {
    folder: 'catalog/mcp-server-card',
    shows: 'The card of the MCP server, to which the AI Catalog leads.',
    render: () => exchange(() => openly('/mcp/server-card')),
  },
  resource('', 'Where clients without a key get a token for the gateway.'),
  resource('/mcp', 'The same for the MCP server.'),
]

function card(version: string, shows: string, headers: Record<string, string> = {}): FixtureCase {
  return { folder: `cards/${version}`, shows, render: () => unsignedCard(headers) }
}

function resource(path: string, shows: string): FixtureCase {
  const issuers = JSON.stringify([{ issuer: 'https://id.example/realms/team', audience: 'rouse' }])
  return {
    folder: `tokens/protected-resource${path.replace('/', '-')}`,
    shows,
    render: () =>
      inWorld(
        ({ gateway }) => record(gateway, openly(`/.well-known/oauth-protected-resource${path}`)),
        {},
        {
          ROUSE_JWT_ISSUERS: issuers,
        },
      ),
  }
}

function unsignedCard(headers: Record<string, string>): Promise<Files> {
  return inWorld(async ({ gateway }) => {
    await gateway.addAgent('@donna', {
      displayName: 'Donna',
      description: 'Reviews changes.',
      skills: [{ id: 'review', name: 'Review', description: 'Reviews a change.', tags: ['code'], examples: ['PR 7'] }],
      inputModes: ['text/plain', 'application/json'],
    })
    const path = '/agents/donna/.well-known/agent-card.json'
    const { body } = await gateway.call('GET', path, undefined, { key: null, headers })
    const { signatures, ...document } = body as JsonObject & { signatures: unknown[] }
    if (signatures.length < 3) throw new Error(`A card has at least three signatures, not ${signatures.length}.`)
    return { 'card.json': pretty(document) }
  })
}
