import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk'
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client'
import * as jose from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { canonicalJson } from '../../src/agent-card/canonical-json.ts'
import { buildCard } from '../../src/agent-card/card.ts'
import type { CardVersion } from '../../src/agent-card/card-version.ts'
import { agentExtensionUri, type CardAgent, CardDocuments, toLegacyCard } from '../../src/agent-card/documents.ts'
import { type CardSigner, createCardSigner, createCardSigningKey } from '../../src/agent-card/signing.ts'
import { projectLimits } from '../../src/limits.ts'
import { donna, publicUrl } from './subject.ts'

// The SDK's verifier reports every signature that fails.
vi.spyOn(console, 'debug').mockImplementation(() => {})

const place = { publicUrl, grpcTarget: 'rouse.example:4521' }
const signer = await createCardSigner([await createCardSigningKey()], publicUrl)
const [publicKey] = signer.jwks().keys
const verify = verifyAgentCardSignature(async () => publicKey!)
const insider = { projectId: 'project_1' }

const documents = () => new CardDocuments(signer, place)
const parsed = async (version: CardVersion, agent: CardAgent = donna()) =>
  JSON.parse((await documents().document(agent, version)).body)
const legacyResolver = new DefaultAgentCardResolver({ legacyCompat: { enabled: true } })

/** Which of the signatures hold over the RFC 8785 form of the document as served. */
async function holding(document: { signatures: jose.FlattenedJWSInput[] }): Promise<number[]> {
  const { signatures, ...content } = document
  const payload = jose.base64url.encode(canonicalJson(content))
  const results = await Promise.allSettled(
    signatures.map((one) => jose.flattenedVerify({ ...one, payload }, publicKey!)),
  )
  return results.flatMap((result, index) => (result.status === 'fulfilled' ? [index] : []))
}

describe('the v1.0 document', () => {
  test('is ProtoJSON and round-trips through the SDK', async () => {
    const { body, contentType, lastModified } = await documents().document(donna(), '1.0')
    expect(body).not.toContain('$case')
    const card = AgentCard.fromJSON(JSON.parse(body))
    expect(AgentCard.toJSON(card)).toEqual(JSON.parse(body))
    expect({ ...card, signatures: [] }).toEqual(buildCard(donna(), place))
    expect({ contentType, lastModified }).toEqual({
      contentType: 'application/json',
      lastModified: 'Sun, 26 Apr 2026 10:00:00 GMT',
    })
  })

  test('verifies in the SDK; a changed one fails', async () => {
    const wire = await parsed('1.0')
    await verify(AgentCard.fromJSON(wire))
    for (const change of [{ name: 'Mallory' }, { version: '2' }, { supportedInterfaces: [] }, { skills: [] }]) {
      await expect(verify(AgentCard.fromJSON({ ...wire, ...change }))).rejects.toThrow('No valid signatures')
    }
  })

  test('verifies from its JSON too, and then the security schemes are covered', async () => {
    const wire = await parsed('1.0')
    wire.signatures = wire.signatures.slice(1)
    await verify(wire)
    const securitySchemes = { apiKey: { httpAuthSecurityScheme: { scheme: 'basic' } } }
    await expect(verify({ ...wire, securitySchemes })).rejects.toThrow('No valid signatures')
  })

  test('verifies as plain RFC 8785, and then the security requirements are covered', async () => {
    const wire = await parsed('1.0')
    expect(await holding(wire)).toEqual([2])
    expect(await holding({ ...wire, securityRequirements: [] })).toEqual([])
  })
})

describe('the v0.3 document', () => {
  test('has the v0.3 shape', async () => {
    const wire = await parsed('0.3')
    const url = `${publicUrl}/agents/donna`
    expect(wire).toMatchObject({
      name: 'Donna',
      url,
      preferredTransport: 'JSONRPC',
      protocolVersion: '0.3',
      additionalInterfaces: [
        { url, transport: 'HTTP+JSON' },
        { url: 'rouse.example:4521', transport: 'GRPC' },
      ],
      supportsAuthenticatedExtendedCard: true,
      capabilities: { streaming: true, pushNotifications: true },
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } },
      security: [{ apiKey: [] }],
      defaultInputModes: ['text/plain', 'application/json'],
      skills: [{ id: 'schedule', tags: ['calendar', 'Time'] }],
    })
    expect(wire).not.toHaveProperty('supportedInterfaces')
  })

  test('verifies as the SDK client reads it; a changed one fails', async () => {
    const wire = await parsed('0.3')
    await verify(legacyResolver.normalizeAgentCard(wire))
    for (const change of [{ url: 'https://evil.example' }, { name: 'Mallory' }, { additionalInterfaces: [] }]) {
      const changed = legacyResolver.normalizeAgentCard({ ...wire, ...change })
      await expect(verify(changed)).rejects.toThrow('No valid signatures')
    }
  })

  test('verifies as plain RFC 8785; a changed one fails', async () => {
    const wire = await parsed('0.3')
    expect(await holding(wire)).toEqual([2])
    for (const change of [{ preferredTransport: 'GRPC' }, { securitySchemes: {} }, { security: [] }]) {
      expect(await holding({ ...wire, ...change })).toEqual([])
    }
  })

  test('does not verify as if its JSON were v1.0: that form would leave the URL unprotected', async () => {
    await expect(verify(await parsed('0.3'))).rejects.toThrow('No valid signatures')
  })
})

describe('the document of both versions', () => {
  test('has every field of both documents', async () => {
    const [both, current, legacy] = await Promise.all((['both', '1.0', '0.3'] as const).map((one) => parsed(one)))
    const fields = [...Object.keys(current), ...Object.keys(legacy)]
    expect(new Set(Object.keys(both))).toEqual(new Set(fields))
    for (const { signatures: _, ...half } of [current, legacy]) expect(both).toMatchObject(half)
  })

  test('verifies as v1.0, in memory and from its JSON; a changed one fails', async () => {
    const wire = await parsed('both')
    expect(legacyResolver.normalizeAgentCard(wire)).toMatchObject({ supportedInterfaces: wire.supportedInterfaces })
    await verify(wire)
    await verify(AgentCard.fromJSON(wire))
    for (const change of [{ name: 'Mallory' }, { supportedInterfaces: [] }, { securitySchemes: {} }]) {
      const alone = { ...wire, ...change, signatures: wire.signatures.slice(1) }
      await expect(verify(alone)).rejects.toThrow('No valid signatures')
    }
  })

  test('verifies as plain RFC 8785, whole or with the fields of v0.3 alone; a changed one fails', async () => {
    const wire = await parsed('both')
    expect(await holding(wire)).toEqual([2])
    const names = Object.keys(await parsed('0.3'))
    const { securitySchemes, ...legacy } = Object.fromEntries(names.map((name) => [name, wire[name]]))
    const { extendedAgentCard: _, ...capabilities } = legacy.capabilities
    const schemes = { apiKey: { type: securitySchemes.apiKey.type, scheme: securitySchemes.apiKey.scheme } }
    const description = securitySchemes.apiKey.description
    const read = { ...legacy, capabilities, securitySchemes: { apiKey: { ...schemes.apiKey, description } } }
    expect(await holding(read as never)).toEqual([3])
    for (const change of [{ url: 'https://evil.example' }, { additionalInterfaces: [] }, { security: [] }]) {
      expect(await holding({ ...wire, ...change })).toEqual([])
      expect(await holding({ ...read, ...change } as never)).toEqual([])
    }
  })
})

describe.each(['1.0', '0.3', 'both'] as const)('a %s document', (version) => {
  test('keeps its ETag when signed again', async () => {
    const [first, second] = [await documents().document(donna(), version), await documents().document(donna(), version)]
    expect(first.body).not.toBe(second.body)
    expect(first.etag).toBe(second.etag)
    expect(first.etag).toMatch(/^"[\w-]{43}"$/)
  })

  test('gets another ETag when the agent, the signing key or the version changes', async () => {
    const rotated = await createCardSigner([await createCardSigningKey()], publicUrl)
    const shared = documents()
    const etags = [
      (await shared.document(donna(), version)).etag,
      (await shared.document(donna({ description: 'Keeps two calendars.', version: '2' }), version)).etag,
      (await new CardDocuments(rotated, place).document(donna(), version)).etag,
      (await shared.document(donna(), version === '1.0' ? '0.3' : '1.0')).etag,
    ]
    expect(new Set(etags).size).toBe(etags.length)
  })

  test('is signed once per change of its agent', async () => {
    const shared = documents()
    const first = await shared.document(donna(), version)
    expect(await shared.document(donna(), version)).toBe(first)
    expect(await shared.document(donna({ updatedAt: donna().updatedAt + 1 }), version)).not.toBe(first)
  })

  test('is accepted by the SDK client over HTTP, which picks JSON-RPC', async () => {
    const { body, contentType } = await documents().document(donna(), version)
    const protocolVersion = version === 'both' ? '1.0' : version
    const server = createServer((req, res) => {
      if (req.url !== '/agents/donna/.well-known/agent-card.json') return res.writeHead(404).end()
      return res.writeHead(200, { 'content-type': contentType }).end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.address() as AddressInfo
      const factory = new ClientFactory(
        ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
          cardResolver: legacyResolver,
          transports: [new JsonRpcTransportFactory({ legacyCompat: { enabled: true } })],
        }),
      )
      const client = await factory.createFromUrl(`http://127.0.0.1:${port}/agents/donna/`)
      expect(client.transport).toMatchObject({ protocolName: 'JSONRPC', protocolVersion })
      const card = await legacyResolver.resolve(`http://127.0.0.1:${port}/agents/donna/`)
      await verify(card)
      expect(card.supportedInterfaces[0]).toMatchObject({ protocolBinding: 'JSONRPC', protocolVersion })
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })
})

describe('the extended card', () => {
  const paramsOf = (card: AgentCard) => card.capabilities?.extensions.find((one) => one.uri === agentExtensionUri)

  test('adds aliases and access for callers of the project', async () => {
    const card = await documents().extendedCard(donna(), insider)
    expect(paramsOf(card)).toMatchObject({
      required: false,
      params: { handle: '@donna', project: 'default', aliases: ['@d'], access: { allow: ['@mike'] } },
    })
  })

  test('keeps the access rules from callers of other projects, cached or not', async () => {
    const shared = documents()
    await shared.extendedCard(donna(), insider)
    const card = await shared.extendedCard(donna(), { projectId: 'project_2' })
    expect(paramsOf(card)?.params).toEqual({ handle: '@donna', project: 'default', aliases: ['@d'] })
  })

  test('verifies in v1.0 and, translated by the SDK, in v0.3', async () => {
    const card = await documents().extendedCard(donna(), insider)
    await verify(card)
    await verify(AgentCard.fromJSON(AgentCard.toJSON(card)))
    const legacy = JSON.parse(JSON.stringify(await toLegacyCard(card)))
    await verify(legacyResolver.normalizeAgentCard(legacy))
    expect(await holding(legacy)).toEqual([5])
  })

  test('is signed once per change of its agent', async () => {
    const shared = documents()
    const first = await shared.extendedCard(donna(), insider)
    expect(await shared.extendedCard(donna(), insider)).toBe(first)
    expect(await shared.extendedCard(donna({ version: '2' }), insider)).not.toBe(first)
  })
})

// The attack: a stranger reads the public cards of full projects in turn, so that each has left the cache when its turn comes.
test('the cards of some full projects are signed once, however often they are read in turn', async () => {
  let signed = 0
  const counted: CardSigner = {
    ...signer,
    sign: async (card) => ({ ...card, signatures: Array(2).fill(signature) }),
    signDocument: async () => {
      signed++
      return signature
    },
  }
  const signature = { protected: 'p', signature: 's', header: undefined }
  const shared = new CardDocuments(counted, place)
  const agents = Array.from({ length: 2 * projectLimits.agents.max }, (_, n) => donna({ id: `agent_${n}` }))
  for (let turn = 0; turn < 3; turn++) {
    for (const agent of agents)
      for (const version of ['1.0', '0.3', 'both'] as const) await shared.document(agent, version)
  }
  // The one of both versions also carries a signature of its v0.3 fields.
  expect(signed).toBe(4 * agents.length)
})
