import { createHash } from 'node:crypto'
import { AgentCard, type AgentCardSignature } from '@a2a-js/sdk'
import type { JsonObject } from '../lib/json.ts'
import { MiB } from '../limits.ts'
import { canonicalJson } from './canonical-json.ts'
import { buildCard, type CardPlace } from './card.ts'
import type { CardVersion } from './card-version.ts'
import { type CardCaller, type ExtendedSubject, extendCard, isInsider } from './extended-card.ts'
import { legacySubset, toLegacyCard } from './legacy-card.ts'
import { merged } from './merged.ts'
import { RevisionCache } from './revision-cache.ts'
import type { CardSigner } from './signing.ts'

/** The fields of a registered agent that its documents are made of; `updatedAt` in ms since the epoch. */
export interface CardAgent extends ExtendedSubject {
  id: string
  updatedAt: number
}

/** A card ready to be served. */
export interface CardDocument {
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
