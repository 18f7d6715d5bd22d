import { createHash } from 'node:crypto'
import { AgentCard, type AgentCardSignature, type AgentExtension } from '@a2a-js/sdk'
import { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { type A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server'
import { isJsonObject, type JsonObject } from '../lib/json.ts'
import { MiB } from '../limits.ts'
import { canonicalJson } from './canonical-json.ts'
import { buildCard, type CardPlace, type CardSubject } from './card.ts'
import type { CardVersion } from './card-version.ts'
import { RevisionCache } from './revision-cache.ts'
import type { CardSigner } from './signing.ts'

export const agentExtensionUri = 'urn:rouse:agent:v1'

/** The fields of a registered agent that its documents are made of; `updatedAt` in ms since the epoch. */
export interface CardAgent extends ExtendedSubject {
  id: string
  updatedAt: number
}

/** A card ready to be served. */
interface CardDocument {
  body: string
  /** Quoted. Depends on the content and the signing key, not on the random bytes of a signature. */
  etag: string
  contentType: 'application/json'
  /** An HTTP date. */
  lastModified: string
}

/**
 * Signed cards, each built once per change of its agent or of the signing key.
 *
 * A card carries three signatures by the same key: verifiers disagree on the bytes, and each needs one valid signature only
 * (A2A section 8.4.3):
 *
 * 1. the SDK's form of the card in memory, which covers neither `securitySchemes` nor `securityRequirements`;
 * 2. the same form of the card's v1.0 JSON, for verifiers that start from what was served: `securitySchemes` covered;
 * 3. the plain RFC 8785 form of the document as served, `signatures` left out: everything covered. For these cards it
 *    is what section 8.4.1 asks for, and all that a verifier that knows only v0.3 can compute.
 *
 * On a v0.3 document the first two are over the v1.0 card that a client gets by translating it. A document of both versions carries
 * the three of v1.0, and the third one of its v0.3 fields: a verifier reads the fields of its own version only.
 */
export class CardDocuments {
  readonly #signer: CardSigner
  readonly #place: CardPlace
  readonly #documents: RevisionCache<CardDocument>
  readonly #extended: RevisionCache<AgentCard>

  constructor(signer: CardSigner, place: CardPlace) {
    this.#signer = signer
    this.#place = place
    this.#documents = new RevisionCache({
      entriesMax: 15_000,
      weightMax: 64 * MiB,
      weigh: ({ body }) => body.length,
    })
    this.#extended = new RevisionCache({
      entriesMax: 2_000,
      weightMax: 8 * MiB,
      weigh: (card) => JSON.stringify(card).length,
    })
  }

  document(agent: CardAgent, version: CardVersion): Promise<CardDocument> {
    return this.#documents.get(`${version} ${agent.id}`, this.#revisionOf(agent), async () => {
      const { document, signatures } = await signed(this.#signer, buildCard(agent, this.#place), version)
      return {
        body: JSON.stringify({ ...document, signatures }),
        etag: etagOf(document, this.#signer.kid),
        contentType: 'application/json',
        lastModified: new Date(Math.max(agent.updatedAt, this.#signer.signsSince * 1000)).toUTCString(),
      }
    })
  }

  /**
   * The card for an authenticated caller. The SDK's transports translate it to v0.3 themselves and keep its
   * signatures, so it carries those of both versions.
   */
  extendedCard(agent: CardAgent, caller: CardCaller): Promise<AgentCard> {
    const view = isInsider(agent, caller) ? 'insider' : 'outsider'
    return this.#extended.get(`${view} ${agent.id}`, this.#revisionOf(agent), async () => {
      const card = extendCard(buildCard(agent, this.#place), agent, caller)
      const current = await signed(this.#signer, card, '1.0')
      const legacy = await signed(this.#signer, card, '0.3')
      return { ...card, signatures: [...current.signatures, ...legacy.signatures] }
    })
  }

  /** The revision of a document's sources: the agent and the signing key. */
  #revisionOf(agent: CardAgent): string {
    return `${agent.updatedAt} ${agent.version} ${this.#signer.kid}`
  }
}

interface Signed {
  /** Without `signatures`. */
  document: JsonObject
  signatures: AgentCardSignature[]
}

async function signed(signer: CardSigner, card: AgentCard, version: CardVersion): Promise<Signed> {
  // Served as ProtoJSON: the in-memory card has `$case` members that do not belong on the wire.
  const current = AgentCard.toJSON(card) as JsonObject
  const legacy: JsonObject = version === '1.0' ? {} : { ...(await toLegacyCard(card)) }
  const documents = { '1.0': [current], '0.3': [legacy], both: [merged(current, legacy), legacy] }[version]
  const { signatures } = await signer.sign(version === '0.3' ? legacySubset(card) : card)
  const ofDocuments = await Promise.all(documents.map((one) => signer.signDocument(one)))
  return { document: documents[0]!, signatures: [...signatures, ...ofDocuments] }
}

function etagOf(document: JsonObject, kid: string): string {
  const hash = createHash('sha256').update(kid).update(canonicalJson(document))
  return `"${hash.digest('base64url')}"`
}

/**
 * A document with the fields of two, at every depth: items of lists of the same length are merged in turn. Where both have a value, the
 * first one's counts.
 */
export function merged(first: JsonObject, second: JsonObject): JsonObject {
  const both = { ...first }
  for (const [name, value] of Object.entries(second))
    both[name] = name in first ? mergedValue(first[name], value) : value
  return both
}

function mergedValue(one: unknown, other: unknown): unknown {
  if (isJsonObject(one) && isJsonObject(other)) return merged(one, other)
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return one
  return one.map((item, index) => mergedValue(item, other[index]))
}

/** A card in the JSON of A2A v0.3. */
type LegacyCard = Awaited<ReturnType<LegacyRestTransportHandler['getAuthenticatedExtendedAgentCard']>>

/**
 * The v0.3 form of a v1.0 card, signatures carried over as they are. The SDK keeps its translator private, but its
 * v0.3 REST transport applies it to the card that its request handler returns.
 */
export function toLegacyCard(card: AgentCard): Promise<LegacyCard> {
  const handler = { getAuthenticatedExtendedAgentCard: async () => card } as Partial<A2ARequestHandler>
  const transport = new LegacyRestTransportHandler(handler as A2ARequestHandler)
  return transport.getAuthenticatedExtendedAgentCard(new ServerCallContext())
}

/**
 * The v1.0 card that a client gets back when it translates the v0.3 form: only the v0.3 interfaces survive.
 * The SDK's client verifies this card, so it is the one to sign.
 */
function legacySubset(card: AgentCard): AgentCard {
  return { ...card, supportedInterfaces: card.supportedInterfaces.filter((one) => one.protocolVersion === '0.3') }
}

/** The fields that the extended card adds to the public one. */
interface ExtendedSubject extends CardSubject {
  aliases: readonly string[]
  /** The callers that may address the agent: a JSON value, passed on as registered. */
  access: unknown
}

/** The authenticated caller that requests an extended card. */
interface CardCaller {
  projectId: string
}

/** Adds the agent's addresses and, for callers of its own project, its access rules (A2A section 13.3). Unsigned. */
function extendCard(card: AgentCard, agent: ExtendedSubject, caller: CardCaller): AgentCard {
  const extension: AgentExtension = {
    uri: agentExtensionUri,
    description: 'The addresses of the agent and who may use them.',
    required: false,
    params: {
      handle: agent.handle,
      project: agent.project,
      aliases: [...agent.aliases],
      ...(isInsider(agent, caller) ? { access: agent.access } : {}),
    },
  }
  const extensions = [extension, ...(card.capabilities?.extensions ?? [])]
  return { ...card, capabilities: { ...card.capabilities, extensions } }
}

/** Access rules name other agents, so only callers of the project may see them. */
function isInsider(agent: CardSubject, caller: CardCaller): boolean {
  return agent.projectId === caller.projectId
}
