import type { Facts } from './facts.ts'

/** The reason of a restart: what waits, and the session that is gone. A session that ends is a new one. Pure. */
export function restartKey({ reason, former }: Pick<Facts, 'reason' | 'former'>): string {
  return `${reason?.key ?? ''} after ${former?.id ?? ''}`
}

/** The reason of a person's choice to leave alone what waits: no act of either kind is for it. Pure. */
export const skipKey = ({ key }: { readonly key: string }): string => `skipped ${key}`
