import { AgentCard } from '@a2a-js/sdk'

/** The protocols and capabilities of every agent. The SDK's transports check requests against them. */
export const sharedCard: AgentCard = AgentCard.fromJSON({
  name: 'Rouse',
  supportedInterfaces: ['1.0', '0.3'].flatMap((protocolVersion) =>
    ['JSONRPC', 'HTTP+JSON', 'GRPC'].map((protocolBinding) => ({ url: '/', protocolBinding, protocolVersion })),
  ),
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
})
