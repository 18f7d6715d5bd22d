import type { AgentCard } from '@a2a-js/sdk'
import { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { type A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server'

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
export function legacySubset(card: AgentCard): AgentCard {
  return { ...card, supportedInterfaces: card.supportedInterfaces.filter((one) => one.protocolVersion === '0.3') }
}
