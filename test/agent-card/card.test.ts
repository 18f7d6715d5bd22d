import { AgentCard } from '@a2a-js/sdk'
import { describe, expect, test } from 'vitest'
import { agentPath, agentTenant, buildCard } from '../../src/agent-card/card.ts'
import { toLegacyCard } from '../../src/agent-card/documents.ts'
import { donna, publicUrl } from './subject.ts'

const shape = (card: AgentCard) =>
  card.supportedInterfaces.map((one) => `${one.protocolBinding} ${one.protocolVersion}`)

describe('buildCard', () => {
  test('v1.0 interfaces come before v0.3 interfaces', () => {
    const card = buildCard(donna(), { publicUrl })
    expect(shape(card)).toEqual(['JSONRPC 1.0', 'HTTP+JSON 1.0', 'JSONRPC 0.3', 'HTTP+JSON 0.3'])
    expect(new Set(card.supportedInterfaces.map((one) => one.url))).toEqual(new Set([`${publicUrl}/agents/donna`]))
  })

  test('gRPC is a bare target with the agent as its tenant', () => {
    const card = buildCard(donna(), { publicUrl, grpcTarget: 'rouse.example:4521' })
    expect(shape(card)).toEqual(
      ['1.0', '0.3'].flatMap((version) => [`JSONRPC ${version}`, `HTTP+JSON ${version}`, `GRPC ${version}`]),
    )
    expect(card.supportedInterfaces[2]).toMatchObject({ url: 'rouse.example:4521', tenant: 'agents/donna' })
    expect(card.supportedInterfaces.filter((one) => one.tenant !== '')).toHaveLength(1)
  })

  test('an extension tells clients of v0.3, whose interfaces have no tenant, how to name the agent over gRPC', () => {
    const card = buildCard(donna(), { publicUrl, grpcTarget: 'rouse.example:4521' })
    const params = { metadata: { 'a2a-tenant': 'agents/donna' } }
    expect(card.capabilities?.extensions).toMatchObject([{ uri: 'urn:rouse:grpc-tenant:v1', required: false, params }])
    expect(buildCard(donna(), { publicUrl }).capabilities?.extensions).toEqual([])
  })

  test('a slash at the end of the public URL is not doubled', () => {
    const card = buildCard(donna(), { publicUrl: `${publicUrl}/` })
    expect(card.supportedInterfaces[0]?.url).toBe(`${publicUrl}/agents/donna`)
  })

  test('an agent of another project lives below that project', () => {
    const agent = donna({ project: 'blue team', projectId: 'project_2' })
    expect(agentPath(agent)).toBe('/projects/blue%20team/agents/donna')
    expect(agentTenant(agent)).toBe('projects/blue%20team/agents/donna')
    expect(buildCard(agent, { publicUrl }).supportedInterfaces[0]?.url).toBe(`${publicUrl}${agentPath(agent)}`)
  })

  test('required fields that were not registered get defaults', () => {
    const bare = donna({ displayName: null, description: null, skills: [], inputModes: [], outputModes: [] })
    const card = buildCard(bare, { publicUrl })
    expect(card).toMatchObject({
      name: 'donna',
      description: expect.stringContaining('donna'),
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 'message', name: 'Message @donna', tags: ['message'] }],
    })
  })

  test('a skill without description and tags describes itself by name and id', () => {
    const card = buildCard(donna({ skills: [{ id: 'plan', name: 'Planning', tags: [] }] }), { publicUrl })
    expect(card.skills).toMatchObject([{ description: 'Planning', tags: ['plan'] }])
  })

  test('where clients need a certificate, each way to authenticate has it too, in both versions', async () => {
    const issuers = [{ issuer: 'https://issuer.example' }]
    const card = buildCard(donna(), { publicUrl, issuers, needsCertificate: true })
    const wire = AgentCard.toJSON(card) as { securitySchemes: object; securityRequirements: object[] }
    expect(wire.securitySchemes).toMatchObject({
      certificate: { mtlsSecurityScheme: { description: expect.any(String) } },
    })
    expect(wire.securityRequirements).toEqual(
      ['apiKey', 'token'].map((name) => ({ schemes: { certificate: {}, [name]: {} } })),
    )
    const legacy = await toLegacyCard(card)
    expect(legacy.securitySchemes).toMatchObject({ certificate: { type: 'mutualTLS' } })
    expect(legacy.security).toEqual([
      { certificate: [], apiKey: [] },
      { certificate: [], token: [] },
    ])
  })

  test('a bearer key is demanded', () => {
    const wire = AgentCard.toJSON(buildCard(donna(), { publicUrl }))
    expect(wire).toMatchObject({
      securitySchemes: { apiKey: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
      securityRequirements: [{ schemes: { apiKey: {} } }],
      capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    })
    expect(wire).not.toHaveProperty('provider')
  })
})
