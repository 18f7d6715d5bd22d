/**
 * What a key may do, in the order of power. `read`: reads and streams. `send`: mail, A2A sends, cancels. `work`:
 * the work of a harness: sessions, presence, task transitions, artifacts, mail status, claims. `manage`: subscriptions, push
 * configs, permissions, the agent's own description. `mint`: keys.
 */
export const scopes = ['read', 'send', 'work', 'manage', 'mint'] as const
export type Scope = (typeof scopes)[number]

/** Parses scopes that are separated by spaces. Returns them in the order of the table, without unknown words. */
export function parseScopes(text: string): readonly Scope[] {
  const known = parsed.get(text)
  if (known) return known
  const words = new Set(text.split(' '))
  const found = scopes.filter((scope) => words.has(scope))
  if (parsed.size < parsedMax) parsed.set(text, found)
  return found
}

/** A cache: there are few different texts, and every request parses one. */
const parsed = new Map<string, readonly Scope[]>()
const parsedMax = 2 ** scopes.length
