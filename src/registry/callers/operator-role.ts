import type { Scope } from './scopes.ts'

/**
 * The roles of operators and their scopes. `admin`: everything in all projects. `manager`: everything in its own projects, but it
 * makes no projects and no operators. `viewer`: reads in its own projects.
 */
export const operatorRoles = {
  admin: ['read', 'send', 'work', 'manage', 'mint'],
  manager: ['read', 'send', 'work', 'manage', 'mint'],
  viewer: ['read'],
} as const satisfies Record<string, readonly Scope[]>

export type OperatorRole = keyof typeof operatorRoles
export const operatorRoleNames = Object.keys(operatorRoles) as OperatorRole[]
