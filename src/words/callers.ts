/** The identity of every operator: they share one mailbox and one identity in all projects. */
export const operatorIdentity = '@operator'

/**
 * The scopes of an agent's key, in the order of power. `read`: reads and streams. `send`: mail, A2A sends, cancels. `work`: the work of a harness:
 * sessions, presence, task transitions, artifacts, mail status, claims. `manage`: subscriptions, push configs, permissions, the agent's own
 * description. `mint`: keys.
 */
export const agentScopes = ['read', 'send', 'work', 'manage', 'mint'] as const
/** `approve`: answers what harnesses ask their person. Only an operator key that names a person has it, and no role includes it. Source: D52. */
export const scopes = [...agentScopes, 'approve'] as const
export type Scope = (typeof scopes)[number]
export type AgentScope = (typeof agentScopes)[number]

/** Parses the scopes of an agent, which are separated by spaces. Returns them in the order of the table, without other words. */
export function parseScopes(text: string): readonly AgentScope[] {
  const known = parsed.get(text)
  if (known) return known
  const words = new Set(text.split(' '))
  const found = agentScopes.filter((scope) => words.has(scope))
  if (parsed.size < parsedMax) parsed.set(text, found)
  return found
}

/** A cache: there are few different texts, and every request parses one. */
const parsed = new Map<string, readonly AgentScope[]>()
const parsedMax = 2 ** agentScopes.length

/**
 * The roles of operators and their scopes. `admin`: everything in all projects. `manager`: everything in its own projects, but it
 * makes no projects and no operators. `viewer`: reads in its own projects.
 */
export const operatorRoles = {
  admin: ['read', 'send', 'work', 'manage', 'mint'],
  manager: ['read', 'send', 'work', 'manage', 'mint'],
  viewer: ['read'],
} as const satisfies Record<string, readonly Scope[]>

/** The scopes of an operator. `approves`: it may answer what harnesses ask. A viewer never may. */
export const scopesOf = (role: OperatorRole, approves: boolean): readonly Scope[] =>
  approves && role !== 'viewer' ? [...operatorRoles[role], 'approve'] : operatorRoles[role]

export type OperatorRole = keyof typeof operatorRoles
export const operatorRoleNames = Object.keys(operatorRoles) as OperatorRole[]

export const permissionScopes = [
  'CAN_REPLY_TO',
  'CAN_READ_INBOX_OF',
  'CAN_READ_MEMORIES_OF',
  'CAN_MANAGE_SUBSCRIPTIONS_OF',
] as const
/** The act that a grantor allows a grantee. Source: S1-26, S1-45. */
export type PermissionScope = (typeof permissionScopes)[number]
