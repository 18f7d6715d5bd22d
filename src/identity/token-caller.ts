import { isOneLine } from '../lib/words.ts'
import { nameOf } from '../registry/agents/agents.ts'
import { type Caller, operator } from '../registry/callers/caller.ts'
import { isTokenRevoked } from '../registry/callers/revoked-token-store.ts'
import { readOverrides } from '../registry/projects/project-limits.ts'
import { defaultProject } from '../registry/projects/project-store.ts'
import { claimOf, wordsOf } from '../security/jwt-claims.ts'
import type { JwtIssuer } from '../security/jwt-issuers.ts'
import type { VerifiedToken, VerifyOptions } from '../security/jwt-verifier.ts'
import type { Reader } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
import { type AgentScope, agentScopes, type OperatorRole, operatorRoleNames, scopesOf } from '../words/callers.ts'
import type { WakePolicy } from '../words/policies.ts'

export interface TokenVerifier {
  /** The verified token, or undefined if it is not valid. */
  verify(token: string, options?: VerifyOptions): Promise<VerifiedToken | undefined>
}

/** The caller that a token names. Whether there is such an agent is not known yet. */
type TokenSubject =
  | { readonly kind: 'agent'; readonly project: string; readonly name: string; readonly scopes: readonly AgentScope[] }
  | OperatorSubject

interface OperatorSubject {
  readonly kind: 'operator'
  readonly role: OperatorRole
  readonly projects: readonly string[] | undefined
  /** The name of its person; undefined: the token names none. */
  readonly person: string | undefined
  readonly approves: boolean
}

const agentOf = statement<
  { projectId: string; name: string; tokenId: string },
  { id: string; handle: string; defaultWakePolicy: WakePolicy; limits: string | null; isRevoked: number }
>(sql`select a.id, a.handle, a.default_wake_policy as "defaultWakePolicy", p.limits,
    case when exists (select 1 from revoked_token where id = ${p('tokenId')}) then 1 else 0 end as "isRevoked"
  from agent_name n join agent a on a.id = n.agent_id join project p on p.id = a.project_id
  where n.project_id = ${p('projectId')} and n.name = ${p('name')}`)

/** The caller for whom a token speaks. */
interface TokenHolder {
  readonly caller: Caller
  readonly isRevoked: boolean
}

/** Returns the caller of a token, with one query. Undefined: the token is not accepted, or its agent does not exist. */
export async function callerOfToken(db: Reader, tokens: TokenVerifier, token: string): Promise<Caller | undefined> {
  const holder = await holderOf(db, await tokens.verify(token))
  return holder?.isRevoked ? undefined : holder?.caller
}

/** The same for a token that may have expired or been revoked: what it made can still be revoked. */
export async function callerOfFormerToken(
  db: Reader,
  tokens: TokenVerifier,
  token: string,
): Promise<Caller | undefined> {
  const holder = await holderOf(db, await tokens.verify(token, { mayHaveExpired: true }))
  return holder?.caller
}

async function holderOf(db: Reader, verified: VerifiedToken | undefined): Promise<TokenHolder | undefined> {
  const subject = verified && subjectOf(verified)
  if (!verified || !subject) return undefined
  const { keyId, expiresAt } = verified
  if (subject.kind === 'operator') {
    const isRevoked = await isTokenRevoked(db, keyId)
    const { role, projects, person, approves } = subject
    const named = person === undefined ? {} : { name: person }
    const reach = projects === undefined ? {} : { projects, projectId: projects[0] ?? defaultProject }
    return {
      caller: { ...operator, keyId, expiresAt, role, scopes: scopesOf(role, approves), ...named, ...reach },
      isRevoked,
    }
  }
  const { project: projectId, name } = subject
  const agent = await db.get(agentOf, { projectId, name, tokenId: keyId })
  if (!agent) return undefined
  const limits = readOverrides(agent.limits)
  const caller: Caller = {
    kind: 'agent',
    id: agent.id,
    identity: agent.handle,
    projectId,
    keyId,
    scopes: subject.scopes,
    expiresAt,
    limits,
    defaultWakePolicy: agent.defaultWakePolicy,
  }
  return { caller, isRevoked: agent.isRevoked > 0 }
}

/** Reads the claims of a token as its issuer's entry defines them. Undefined: the issuer may not say this. Pure. */
function subjectOf({ issuer, claims }: Pick<VerifiedToken, 'issuer' | 'claims'>): TokenSubject | undefined {
  const names = issuer.claims
  const words = names.role === undefined ? [] : wordsOf(claimOf(claims, names.role))
  const role = operatorRoleNames.find((one) => words.includes(one))
  if (role !== undefined) return operatorOf(issuer, role, claims)
  const name = claimOf(claims, names.agent)
  const project = names.project === undefined ? soleProject(issuer) : claimOf(claims, names.project)
  if (typeof name !== 'string' || typeof project !== 'string' || !speaksFor(issuer, project)) return undefined
  // Letter for letter: `Donna` and `donna` may be two users of the issuer.
  const handle = `@${name}`
  if (nameOf(handle) !== handle) return undefined
  const claimed = names.scopes === undefined ? undefined : wordsOf(claimOf(claims, names.scopes))
  // A key that a token makes would outlive the token. So `mint` is given only if the token names it.
  const granted = agentScopes.filter((scope) => (claimed === undefined ? scope !== 'mint' : claimed.includes(scope)))
  return { kind: 'agent', project, name: handle, scopes: granted }
}

/** If the entry names a claim and the token lacks it, the token has no project; it does not have all of them. */
function operatorOf(issuer: JwtIssuer, role: OperatorRole, claims: object): TokenSubject | undefined {
  const named = { kind: 'operator', role, ...personOf(issuer, claims) } as const
  if (role === 'admin') return issuer.projects === '*' ? { ...named, projects: undefined } : undefined
  const name = issuer.claims.projects
  const claimed = name === undefined ? undefined : wordsOf(claimOf(claims, name))
  const reach = issuer.projects === '*' ? claimed : (claimed ?? issuer.projects).filter((one) => speaksFor(issuer, one))
  return reach?.length === 0 ? undefined : { ...named, projects: reach }
}

/** A token approves only if it names that scope and its person. */
function personOf({ claims: names }: JwtIssuer, claims: object): Pick<OperatorSubject, 'person' | 'approves'> {
  const said = names.name === undefined ? undefined : claimOf(claims, names.name)
  const person = typeof said === 'string' && said.length <= 100 && /\S/.test(said) && isOneLine(said) ? said : undefined
  const claimed = names.scopes === undefined ? [] : wordsOf(claimOf(claims, names.scopes))
  return { person, approves: person !== undefined && claimed.includes('approve') }
}

function soleProject({ projects }: JwtIssuer): string {
  return projects !== '*' && projects.length === 1 ? projects[0]! : defaultProject
}

function speaksFor({ projects }: JwtIssuer, project: string): boolean {
  return projects === '*' || projects.includes(project)
}
