/** Three parts of base64url: the form of a signed token, and of no API key. */
export function looksLikeJwt(bearer: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(bearer)
}

/**
 * The claim of a name: a member of the claims, or a path of members joined by dots (`realm_access.roles`). Only own members
 * count. undefined: there is none.
 */
export function claimOf(claims: object, name: string): unknown {
  if (Object.hasOwn(claims, name)) return (claims as Record<string, unknown>)[name]
  let value: unknown = claims
  for (const step of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return value
}

/** The words of a claim: a list of texts, or one text of words separated by spaces. Anything else has none. */
export function wordsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter(Boolean)
  return Array.isArray(claim) ? claim.filter((word): word is string => typeof word === 'string') : []
}
