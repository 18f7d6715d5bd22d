/**
 * The capabilities that the reader of a stream may name. `spawn`: it starts a process for each wake, or only prints it, so that presence
 * does not matter. `append-only`: it reads the state of the harness again at the moment of the act, and touches neither a turn nor an
 * approval. `turn/start` and `turn/steer`: it begins a turn, or adds to the one that runs. Source: S1-9…S1-12, D34.
 */
export const streamCapabilities = ['spawn', 'append-only', 'turn/start', 'turn/steer'] as const
export type StreamCapability = (typeof streamCapabilities)[number]

/** True when a subscription is read by a stream that starts a process for each wake. Source: D34. */
export function spawns(subscription: { readonly streamCapabilities: readonly StreamCapability[] }): boolean {
  return subscription.streamCapabilities.includes('spawn')
}
