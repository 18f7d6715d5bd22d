import { z } from 'zod'
import { isLoopbackHost } from './url-guard.ts'

/** Signatures by a private key. With a shared secret every verifier could issue tokens, and with `none` anybody could. */
const algorithmsKnown = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const
const algorithmsDefault = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const

const url = z.string().refine(isIssuerUrl, {
  error: 'is an https URL without user name, query or fragment; http only for this machine',
})
const name = z.string().min(1).max(200)
const issuer = z.strictObject({
  issuer: url,
  audience: z.union([name, z.array(name).min(1).max(20)]),
  algorithms: z.array(z.enum(algorithmsKnown)).min(1).optional(),
  jwksUri: url.optional(),
  claims: z
    .strictObject({
      agent: name.optional(),
      project: name.optional(),
      role: name.optional(),
      projects: name.optional(),
      scopes: name.optional(),
      name: name.optional(),
    })
    .optional(),
  projects: z.union([z.literal('*'), z.array(name).min(1).max(100)]).optional(),
})

/** An issuer whose tokens are accepted, and the claims that count. */
export interface JwtIssuer {
  /** Exactly the `iss` of its tokens. */
  readonly issuer: string
  /** A token's `aud` must contain one of these. */
  readonly audience: readonly string[]
  readonly algorithms: readonly string[]
  /** The URL of its keys; absent: its discovery document names it. */
  readonly jwksUri?: string | undefined
  /** The names of the claims that are read. A fact without a name is not read. */
  readonly claims: {
    /** The handle of the agent that the token speaks for. */
    readonly agent: string
    /** The agent's project. */
    readonly project?: string | undefined
    /** `admin`, `manager` or `viewer`: the token is an operator's. */
    readonly role?: string | undefined
    /** The projects of an operator. */
    readonly projects?: string | undefined
    /** The scopes of the token. */
    readonly scopes?: string | undefined
    /** The name of the person that an operator is. */
    readonly name?: string | undefined
  }
  /** The projects for which the issuer is accepted. `*`: all of them; only such an issuer can make admins. */
  readonly projects: readonly string[] | '*'
}

/** The issuers that ROUSE_JWT_ISSUERS lists as JSON. Throws an Error that names the entry, the field and what it is. */
export function parseJwtIssuers(text: string): JwtIssuer[] {
  const result = z.array(issuer).max(20).safeParse(parseJson(text))
  if (!result.success) {
    const { path, message } = result.error.issues[0]!
    throw new Error(`${path.length > 0 ? `${path.join('.')}: ` : ''}${message}. Give a list of {"issuer", "audience"}.`)
  }
  const issuers = result.data.map(({ audience, algorithms, claims, projects, ...rest }) => ({
    ...rest,
    audience: [audience].flat(),
    algorithms: algorithms ?? algorithmsDefault,
    claims: { ...claims, agent: claims?.agent ?? 'sub' },
    projects: projects ?? ['default'],
  }))
  if (new Set(issuers.map((one) => one.issuer)).size < issuers.length) {
    throw new Error('the same issuer is listed twice. Give it several audiences instead.')
  }
  return issuers
}

/** The URL of an issuer's discovery document (OpenID Connect Discovery 1.0 section 4). */
export function discoveryUrl({ issuer }: Pick<JwtIssuer, 'issuer'>): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the list of issuers is not valid JSON.')
  }
}

function isIssuerUrl(text: string): boolean {
  if (text.length > 2_048 || !URL.canParse(text)) return false
  const { protocol, username, password, search, hash, hostname } = new URL(text)
  if (username || password || search || hash) return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
}
