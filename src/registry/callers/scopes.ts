/**
 * What a key may be used for, from the least to the most. `read`: reads and streams. `send`: mail, A2A sends, cancels. `work`:
 * what a harness does: sessions, presence, task transitions, artifacts, mail status, claims. `manage`: subscriptions, push
 * configs, permissions, the agent's own description. `mint`: keys.
 */
export const scopes = ['read', 'send', 'work', 'manage', 'mint'] as const
export type Scope = (typeof scopes)[number]

/** The scopes that a text names, separated by spaces, in the table's order. Other words are left out. */
export function parseScopes(text: string): readonly Scope[] {
  const known = parsed.get(text)
  if (known) return known
  const words = new Set(text.split(' '))
  const found = scopes.filter((scope) => words.has(scope))
  if (parsed.size < parsedMax) parsed.set(text, found)
  return found
}

/** Every request names one of few texts. */
const parsed = new Map<string, readonly Scope[]>()
const parsedMax = 2 ** scopes.length
