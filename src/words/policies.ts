/** The callers that may see an agent's card and send to it. Sending always takes a key. */
export const accessLevels = ['public', 'project', 'private'] as const
/**
 * `public`: anybody reads the card, any caller of any project sends. `project` (default): anybody reads the card,
 * callers of the same project send. `private`: only callers of the same project see that it exists.
 */
export type Access = (typeof accessLevels)[number]

export const contactPolicies = ['everybody', 'listed'] as const
/** Whose mail an agent accepts: `everybody` of its project (default), or only agents that it granted CAN_REPLY_TO. */
export type ContactPolicy = (typeof contactPolicies)[number]

export const wakePolicies = ['silent', 'next_turn', 'immediate'] as const
/** The sender's delivery contract, never derived from priority. Source: S1-15, S1-16. */
export type WakePolicy = (typeof wakePolicies)[number]

export const priorities = ['high', 'normal', 'low'] as const
export type Priority = (typeof priorities)[number]
