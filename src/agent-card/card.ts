import type { AgentCard, AgentExtension, AgentInterface, AgentSkill, SecurityScheme } from '@a2a-js/sdk'

/** The description that a registered agent gives of itself. `version` changes whenever another field does. */
export interface CardSubject {
  handle: string
  displayName: string | null
  description: string | null
  skills: readonly CardSkill[]
  inputModes: readonly string[]
  outputModes: readonly string[]
  version: string
  projectId: string
  project: string
}

interface CardSkill {
  id: string
  name: string
  description?: string
  tags?: readonly string[]
  examples?: readonly string[]
  inputModes?: readonly string[]
  outputModes?: readonly string[]
}

/** The gateway's public addresses. `grpcTarget` is `host:port`; absent: gRPC is off. */
export interface CardPlace {
  publicUrl: string
  grpcTarget?: string
  /** The issuers whose tokens are accepted beside API keys. */
  issuers?: readonly CardIssuer[]
  /** True when every client must present a certificate too. */
  needsCertificate?: boolean
}

/** An issuer of tokens. `jwksUri` is set for one without a discovery document. */
interface CardIssuer {
  issuer: string
  jwksUri?: string | undefined
}

/** The gRPC metadata key that names the agent in v0.3, whose messages have no `tenant`. */
export const tenantMetadata = 'a2a-tenant'
export const tenantExtensionUri = 'urn:rouse:grpc-tenant:v1'

/**
 * The public A2A v1.0 card, unsigned. Required arrays hold at least one element and required strings are never empty
 * (A2A section 5.7), whatever was registered.
 */
export function buildCard(agent: CardSubject, place: CardPlace): AgentCard {
  const name = agent.displayName?.trim() || bareHandle(agent)
  return {
    name,
    description: agent.description?.trim() || `${name} takes messages and tasks, and is woken when one arrives.`,
    supportedInterfaces: interfaces(agent, place),
    provider: undefined,
    version: agent.version,
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: true,
      extensions: place.grpcTarget === undefined ? [] : [tenantExtension(agent)],
    },
    ...security(place),
    defaultInputModes: modes(agent.inputModes),
    defaultOutputModes: modes(agent.outputModes),
    skills: agent.skills.length > 0 ? agent.skills.map(cardSkill) : [messageSkill(agent)],
    signatures: [],
  }
}

/**
 * An API key, or a token of one of the issuers; where certificates are needed, each with one. A caller needs to meet one requirement,
 * with all of its schemes (A2A section 4.4.1).
 */
function security({
  issuers = [],
  needsCertificate = false,
}: CardPlace): Pick<AgentCard, 'securitySchemes' | 'securityRequirements'> {
  const bearers: AgentCard['securitySchemes'] = { apiKey: bearer('', 'An API key of this gateway.') }
  for (const [index, one] of issuers.entries()) bearers[index === 0 ? 'token' : `token${index + 1}`] = tokenScheme(one)
  const certificate: AgentCard['securitySchemes'] = needsCertificate ? { certificate: certificateScheme } : {}
  const requirements = Object.keys(bearers).map((name) => {
    const names = [...Object.keys(certificate), name]
    return { schemes: Object.fromEntries(names.map((one) => [one, { list: [] }])) }
  })
  return { securitySchemes: { ...bearers, ...certificate }, securityRequirements: requirements }
}

const certificateScheme: SecurityScheme = {
  scheme: {
    $case: 'mtlsSecurityScheme',
    value: { description: 'A client certificate of a CA that this gateway trusts.' },
  },
}

function tokenScheme({ issuer, jwksUri }: CardIssuer): SecurityScheme {
  const description = `A token of ${issuer} for this gateway, as a bearer.`
  if (jwksUri !== undefined) return bearer('JWT', description)
  const openIdConnectUrl = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  return { scheme: { $case: 'openIdConnectSecurityScheme', value: { description, openIdConnectUrl } } }
}

function bearer(bearerFormat: string, description: string): SecurityScheme {
  return { scheme: { $case: 'httpAuthSecurityScheme', value: { scheme: 'bearer', bearerFormat, description } } }
}

/** The path of an agent under the public URL; its card and every HTTP binding live below it. */
export function agentPath(agent: Pick<CardSubject, 'handle' | 'project'>): string {
  return `/${agentTenant(agent)}`
}

/** The `tenant` that names an agent where the address has no path (gRPC): its path without the leading slash. */
export function agentTenant(agent: Pick<CardSubject, 'handle' | 'project'>): string {
  const agents = `agents/${encodeURIComponent(bareHandle(agent))}`
  return agent.project === 'default' ? agents : `projects/${encodeURIComponent(agent.project)}/${agents}`
}

/** Clients use the first interface that they support (A2A section 8.3.2), so v1.0 comes before v0.3. */
function interfaces(agent: CardSubject, place: CardPlace): AgentInterface[] {
  const url = place.publicUrl.replace(/\/+$/, '') + agentPath(agent)
  const http = (protocolBinding: string, protocolVersion: string) => {
    return { url, protocolBinding, protocolVersion, tenant: '' }
  }
  const grpc = (protocolVersion: string, tenant: string) => {
    if (place.grpcTarget === undefined) return []
    return [{ url: place.grpcTarget, protocolBinding: 'GRPC', protocolVersion, tenant }]
  }
  return [
    http('JSONRPC', '1.0'),
    http('HTTP+JSON', '1.0'),
    ...grpc('1.0', agentTenant(agent)),
    http('JSONRPC', '0.3'),
    http('HTTP+JSON', '0.3'),
    ...grpc('0.3', ''),
  ]
}

/** Tells v0.3 clients how to name the agent over gRPC, because v0.3's interfaces have no tenant. */
function tenantExtension(agent: CardSubject): AgentExtension {
  return {
    uri: tenantExtensionUri,
    description: 'Over gRPC in v0.3, send this metadata with every call: it names the agent.',
    required: false,
    params: { metadata: { [tenantMetadata]: agentTenant(agent) } },
  }
}

function cardSkill(skill: CardSkill): AgentSkill {
  return {
    id: skill.id,
    name: skill.name,
    description: skill.description?.trim() || skill.name,
    tags: skill.tags?.length ? [...skill.tags] : [skill.id],
    examples: [...(skill.examples ?? [])],
    inputModes: [...(skill.inputModes ?? [])],
    outputModes: [...(skill.outputModes ?? [])],
    securityRequirements: [],
  }
}

function messageSkill(agent: CardSubject): AgentSkill {
  return cardSkill({
    id: 'message',
    name: `Message ${agent.handle}`,
    description: `Leaves a message or a task for ${agent.handle} and wakes it.`,
  })
}

function modes(registered: readonly string[]): string[] {
  return registered.length > 0 ? [...registered] : ['text/plain']
}

function bareHandle(agent: Pick<CardSubject, 'handle'>): string {
  return agent.handle.replace(/^@/, '')
}
