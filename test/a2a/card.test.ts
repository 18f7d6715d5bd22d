import { verifyAgentCardSignature } from '@a2a-js/sdk'
import { AgentCardResolver, DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import type { JWK } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { connect, dialects } from './connect.ts'

let gateway: TestGateway
let donna: TestAgent
let lucy: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna', { skills: [{ id: 'review', name: 'Review', tags: ['code'] }] })
  lucy = await gateway.addAgent('lucy')
})

afterAll(() => gateway[Symbol.asyncDispose]())

const read = (headers: Record<string, string> = {}, file = 'agent-card.json') =>
  gateway.call('GET', `/agents/donna/.well-known/${file}`, undefined, { key: null, headers })

describe('the card', () => {
  test('names every binding in v1.0 before the same in v0.3: HTTP at the agent’s address, gRPC with its tenant', async () => {
    const { body } = await read()
    const interfaces: { url: string; protocolBinding: string; protocolVersion: string; tenant?: string }[] =
      body.supportedInterfaces
    expect(interfaces.map(({ protocolBinding, protocolVersion }) => `${protocolVersion} ${protocolBinding}`)).toEqual([
      '1.0 JSONRPC',
      '1.0 HTTP+JSON',
      '1.0 GRPC',
      '0.3 JSONRPC',
      '0.3 HTTP+JSON',
      '0.3 GRPC',
    ])
    const [grpc, http] = [true, false].map((isGrpc) =>
      interfaces.filter(({ protocolBinding }) => (protocolBinding === 'GRPC') === isGrpc),
    )
    expect(new Set(http?.map(({ url }) => url))).toEqual(new Set([`${gateway.url}/agents/donna`]))
    expect(grpc?.map(({ url, tenant }) => [url, tenant])).toEqual([
      [gateway.grpcTarget, 'agents/donna'],
      [gateway.grpcTarget, undefined],
    ])
  })

  const current = { supportedInterfaces: expect.anything(), securityRequirements: expect.anything() }
  const legacy = { protocolVersion: '0.3', url: expect.any(String), security: expect.anything() }

  test('is of the version that is asked for, at both paths', async () => {
    for (const file of ['agent-card.json', 'agent.json']) {
      const asked = await Promise.all(['1.0', '0.3', ''].map((version) => read({ 'A2A-Version': version }, file)))
      const [v10, ...v03] = asked.map(({ body }) => body)
      expect(v10).toMatchObject(current)
      for (const name of Object.keys(legacy)) expect(v10).not.toHaveProperty(name)
      for (const card of v03) {
        expect(card).toMatchObject({ ...legacy, url: `${gateway.url}/agents/donna` })
        for (const name of Object.keys(current)) expect(card).not.toHaveProperty(name)
      }
      expect(asked.map(({ headers }) => headers.get('vary'))).toEqual(Array(3).fill('A2A-Version'))
    }
  })

  test('has the fields of both versions for a client that names none; at the old path those of v0.3', async () => {
    const { body } = await read()
    expect(body).toMatchObject({ ...current, ...legacy })
    expect(body.securitySchemes.apiKey).toMatchObject({
      httpAuthSecurityScheme: { scheme: 'bearer' },
      type: 'http',
      scheme: 'bearer',
    })
    expect(body.capabilities.extendedAgentCard).toBe(true)
    expect(body.supportsAuthenticatedExtendedCard).toBe(true)
    const old = await read({}, 'agent.json')
    expect(old.body).toMatchObject(legacy)
    expect(old.body).not.toHaveProperty('supportedInterfaces')
  })

  test('names the authentication and the abilities of the agent', async () => {
    const { body } = await read()
    expect(body.securitySchemes.apiKey.httpAuthSecurityScheme.scheme).toBe('bearer')
    expect(body.capabilities).toMatchObject({ streaming: true, pushNotifications: true, extendedAgentCard: true })
    expect(body.skills).toMatchObject([{ id: 'review', tags: ['code'] }])
  })
})

describe('caching', () => {
  test.each(['1.0', '0.3', undefined])('a card of v%s that is known is not sent again', async (version) => {
    const wanted: Record<string, string> = version === undefined ? {} : { 'A2A-Version': version }
    const { headers } = await read(wanted)
    expect(headers.get('cache-control')).toBe('public, max-age=60')
    const [etag, lastModified] = [headers.get('etag')!, headers.get('last-modified')!]
    const conditions: Record<string, string>[] = [
      { 'If-None-Match': etag },
      { 'If-None-Match': `"other", W/${etag}` },
      { 'If-None-Match': '*' },
      { 'If-Modified-Since': lastModified },
    ]
    for (const condition of conditions) {
      const again = await read({ ...wanted, ...condition })
      expect([again.status, again.body, again.headers.get('etag')], JSON.stringify(condition)).toEqual([304, '', etag])
    }
  })

  test('another tag, an older date, or nonsense brings the whole card', async () => {
    const conditions: Record<string, string>[] = [
      { 'If-None-Match': '"other"' },
      { 'If-Modified-Since': 'Sat, 01 Jan 2000 00:00:00 GMT' },
      { 'If-Modified-Since': 'yesterday' },
    ]
    for (const condition of conditions) {
      expect((await read(condition)).status).toBe(200)
    }
  })

  test('a change of the agent changes the tag, and each version has another one', async () => {
    const before = (await read()).headers.get('etag')!
    const ofVersions = await Promise.all(['1.0', '0.3'].map((version) => read({ 'A2A-Version': version })))
    expect(new Set([before, ...ofVersions.map(({ headers }) => headers.get('etag'))]).size).toBe(3)
    await gateway.call('PATCH', '/v1/agents/donna', { description: 'Reviews code.' })
    const after = await read({ 'If-None-Match': before })
    expect([after.status, after.body.description]).toEqual([200, 'Reviews code.'])
  })
})

describe('signatures', () => {
  beforeEach(() => {
    // The SDK's verifier reports every signature that fails.
    const silent = vi.spyOn(console, 'debug').mockImplementation(() => {})
    return () => silent.mockRestore()
  })

  /** Knows nothing but what the signature itself says: where the keys are, and which one it is. */
  const verify = verifyAgentCardSignature(async (kid, jku) => {
    const { keys } = (await (await fetch(jku!)).json()) as { keys: JWK[] }
    const key = keys.find((one) => one.kid === kid)
    if (!key) throw new Error(`No key ${kid}.`)
    return key
  })

  test('the served card verifies with the published keys', async () => {
    const resolver = AgentCardResolver.default
    const card = await resolver.resolve(`${gateway.url}/agents/donna/`)
    await verify(card)
    await expect(verify({ ...card, description: 'Mine.' })).rejects.toThrow('No valid signatures')
  })

  test('so does the one of both versions', async () => {
    const { body } = await read()
    await verify(body)
    await expect(verify({ ...body, description: 'Mine.' })).rejects.toThrow('No valid signatures')
  })

  test('so does the v0.3 one', async () => {
    const resolver = new DefaultAgentCardResolver({
      legacyCompat: { enabled: true },
      fetchImpl: (input) => fetch(input, { headers: { 'A2A-Version': '0.3' } }),
    })
    await verify(await resolver.resolve(`${gateway.url}/agents/donna/`))
  })

  test.each(dialects)('and the extended one, A2A $version over $binding', async (dialect) => {
    const client = await connect(gateway, donna, lucy.key, dialect)
    const card = await client.getAgentCard(undefined, verify)
    expect(card.name).toBe('donna')
  })

  test('the published keys have no private part', async () => {
    const { body, headers } = await gateway.call('GET', '/.well-known/jwks.json', undefined, { key: null })
    expect(headers.get('cache-control')).toContain('max-age')
    expect(body.keys.every((key: object) => !('d' in key))).toBe(true)
  })
})
