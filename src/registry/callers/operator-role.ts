import type { Scope } from './scopes.ts'

/**
 * What an operator may do. `admin`: everything, in every project. `manager`: everything within its projects, and no more
 * projects or operators. `viewer`: reads within its projects.
 */
export const operatorRoles = {
  admin: ['read', 'send', 'work', 'manage', 'mint'],
  manager: ['read', 'send', 'work', 'manage', 'mint'],
  viewer: ['read'],
} as const satisfies Record<string, readonly Scope[]>

export type OperatorRole = keyof typeof operatorRoles
export const operatorRoleNames = Object.keys(operatorRoles) as OperatorRole[]
