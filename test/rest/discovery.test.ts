import * as jose from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAiCatalog } from '../../src/agent-card/ai-catalog.ts'
import { canonicalJson } from '../../src/agent-card/canonical-json.ts'
import { createCardSigner, createCardSigningKey } from '../../src/agent-card/signing.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'

const host = 'agents.example.com'
const clock = new FakeClock()
const keptMs = 10_000

let gateway: TestGateway
let donna: TestAgent
let lola: TestAgent

beforeAll(async () => {
  gateway = await startGateway({ env: { ROUSE_PUBLIC_URL: `https://${host}` }, overrides: { clock } })
  donna = await gateway.addAgent('donna', { access: 'private' })
  await gateway.addAgent('inside', { access: 'project' })
  await gateway.addAgent('open', { access: 'public' })
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  lola = await gateway.addAgent('lola', { project: 'web', access: 'public' })
})

afterAll(() => gateway[Symbol.asyncDispose]())

const read = (key: string | null, headers: Record<string, string> = {}, query = '') =>
  gateway.call('GET', `/.well-known/ai-catalog.json${query}`, undefined, { key, headers })

interface Entry {
  readonly identifier: string
  readonly type: string
  readonly url: string
}

const urns = (entries: readonly Entry[]) => entries.map(({ identifier }) => identifier.replace(`urn:air:${host}:`, ''))

// D43
test('without a key it lists the MCP server and the public agents; a key adds those of its own project', async () => {
  const all = ['rouse:mcp', 'default/open:a2a', 'web/lola:a2a']
  expect(urns((await read(null)).body.entries)).toEqual(all)
  const inside = ['rouse:mcp', 'default/donna:a2a', 'default/inside:a2a', 'default/open:a2a', 'web/lola:a2a']
  expect(urns((await read(donna.key)).body.entries)).toEqual(inside)
  expect(urns((await read(gateway.adminKey)).body.entries)).toEqual(inside)
  expect(urns((await read(lola.key)).body.entries)).toEqual(['rouse:mcp', 'web/lola:a2a', 'default/open:a2a'])
  const { status, body } = await read('rk_wrong')
  expect([status, body.entries]).toEqual([401, undefined])
})

test('pages of every origin may read the public documents; the view of a key is private and has no signature', async () => {
  for (const path of [
    '/.well-known/ai-catalog.json',
    '/.well-known/did.json',
    '/mcp/server-card',
    '/.well-known/jwks.json',
    '/openapi.json',
  ]) {
    const { headers } = await gateway.call('GET', path, undefined, { key: null })
    expect([path, headers.get('access-control-allow-origin')]).toEqual([path, '*'])
  }
  const { headers, body } = await read(donna.key)
  expect([headers.get('access-control-allow-origin'), headers.get('cache-control')]).toEqual([
    null,
    'private, no-cache',
  ])
  expect(body.signature).toBeUndefined()
})

test('it has the fields of the specification, and each entry leads to a card of its type', async () => {
  const { body, headers } = await read(null)
  expect(headers.get('content-type')).toBe('application/ai-catalog+json')
  expect(body).toEqual({
    specVersion: '0.9',
    host: { displayName: `Rouse at ${host}`, identifier: `did:web:${host}` },
    entries: expect.any(Array),
    signature: {
      signer: `did:web:${host}`,
      profile: 'did-web-v1',
      issuedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/),
      expiresAt: expect.any(String),
      jws: expect.stringMatching(/^[\w-]+\.\.[\w-]+$/),
    },
  })
  const [mcp, ...agents] = body.entries
  expect(mcp.type).toBe('application/mcp-server-card+json')
  const server = await openly(mcp.url)
  expect(server.headers.get('content-type')).toContain(mcp.type)
  expect(server.body).toMatchObject({
    name: expect.stringMatching(/^[\w.]+\/[\w.]+$/),
    version: expect.any(String),
    remotes: [{ type: 'streamable-http', url: `https://${host}/mcp`, headers: [{ name: 'Authorization' }] }],
  })
  for (const { url, type, updatedAt } of agents) {
    expect(type).toBe('application/a2a-agent-card+json')
    expect(Number.isNaN(Date.parse(updatedAt))).toBe(false)
    expect((await openly(url)).body.supportedInterfaces).toBeDefined()
  }
})

const openly = (url: string) => gateway.call('GET', new URL(url).pathname, undefined, { key: null })

test('a verifier that has only the DID document checks the signature', async () => {
  const { body: did, headers } = await openly('https://x/.well-known/did.json')
  expect([did.id, headers.get('content-type')]).toEqual([`did:web:${host}`, expect.stringContaining('did+json')])
  const { body } = await read(null)
  const { jws, ...signature } = body.signature
  const verify = async (catalog: object) => {
    const [protectedHeader = '', , signed = ''] = jws.split('.')
    const payload = jose.base64url.encode(canonicalJson({ ...catalog, signature }))
    const { kid } = jose.decodeProtectedHeader(jws)
    const method = did.verificationMethod.find(({ id }: { id: string }) => id === kid)
    expect(did.assertionMethod).toContain(kid)
    expect(method).toMatchObject({ controller: signature.signer })
    const jwk = await jose.importJWK(method.publicKeyJwk, 'ES256')
    return jose.compactVerify(`${protectedHeader}.${payload}.${signed}`, jwk, { algorithms: ['ES256'] })
  }
  const { protectedHeader } = await verify(body)
  expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'ai-catalog+jws', kid: expect.any(String) })
  await expect(verify({ ...body, entries: [] })).rejects.toThrow('signature')
})

test('a catalog that is known is not sent again; a change is in it after ten seconds', async () => {
  const first = await read(null)
  expect(first.headers.get('cache-control')).toBe('public, max-age=60')
  expect(first.headers.get('vary')).toContain('Authorization')
  const etag = first.headers.get('etag')!
  clock.advance(keptMs)
  const again = await read(null, { 'If-None-Match': etag })
  expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', etag])
  expect((await read(donna.key)).headers.get('cache-control')).toBe('private, no-cache')

  await gateway.call('PATCH', '/v1/agents/open', { access: 'private' })
  clock.advance(keptMs)
  const changed = await read(null, { 'If-None-Match': etag })
  expect([changed.status, urns(changed.body.entries)]).toEqual([200, ['rouse:mcp', 'web/lola:a2a']])
})

test('what does not fit is in a nested catalog, for callers with a key', async () => {
  expect(urns((await read(donna.key, {}, '?after=@donna')).body.entries)).not.toContain('default/donna:a2a')
  const { status, body } = await read(null, {}, '?after=@donna')
  expect([status, body.field]).toEqual([401, 'after'])
  const rest = `https://${host}/.well-known/ai-catalog.json?after=%40z`
  const signer = await createCardSigner([await createCardSigningKey()], `https://${host}`)
  const catalog = await makeAiCatalog({ publicUrl: `https://${host}`, agents: [], rest }, signer, 0)
  expect(JSON.parse(catalog.body).entries.at(-1)).toEqual({
    identifier: rest,
    type: 'application/ai-catalog+json',
    url: rest,
  })
})

test('an address without a domain cannot sign: the catalog has no signature, and entries are named by their URLs', async () => {
  const signer = await createCardSigner([await createCardSigningKey()], 'http://x')
  const agents = [{ handle: '@donna', project: 'default', updatedAt: 0 }]
  for (const publicUrl of ['http://127.0.0.1:4520', 'https://x.example:8443', 'https://[::1]', 'https://x.example/a']) {
    const catalog = JSON.parse((await makeAiCatalog({ publicUrl, agents }, signer, 0)).body)
    expect(catalog.signature).toBeUndefined()
    expect(catalog.host.identifier).toBeUndefined()
    for (const { identifier, url } of catalog.entries) expect(identifier).toBe(url)
  }
})

test('where there is nothing, the answer says where the agents are; the page does so in a header', async () => {
  for (const path of ['/agents', '/nothing']) {
    const { status, body } = await openly(`https://x${path}`)
    expect([status, body.detail]).toEqual([
      404,
      expect.stringContaining('/.well-known/ai-catalog.json lists the agents'),
    ])
  }
  const { headers } = await openly('https://x/')
  expect(headers.get('link')).toBe('</.well-known/ai-catalog.json>; rel="ai-catalog"')
})
