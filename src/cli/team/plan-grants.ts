import type { PermissionView } from '../../client/route-types.ts'
import { grantEntry } from './known-entries.ts'
import { type ListOptions, type ListPlan, type Step, untouched } from './steps.ts'
import type { TeamGrant } from './team.ts'

/** Returns the steps for the grants. One has no fields that could change: it is there, or not. Pure. */
export function planGrants(
  known: readonly PermissionView[],
  wanted: readonly TeamGrant[] | undefined,
  { prune, resolve }: ListOptions,
): ListPlan<TeamGrant> {
  if (wanted === undefined) return untouched(known.map(grantEntry))
  const resolved = wanted.map(({ grantor, grantee, scope }) => ({
    grantor: resolve(grantor),
    grantee: resolve(grantee),
    scope,
  }))
  const isKnown = new Set(known.map(nameOf))
  const isWanted = new Set(resolved.map(nameOf))
  const others = known.filter((one) => !isWanted.has(nameOf(one)))
  const made = resolved
    .map((body, index) => ({ act: 'make grant', name: nameOf(body), index, body }) as const)
    .filter(({ name }, index, all) => !isKnown.has(name) && all.findIndex((one) => one.name === name) === index)
  const removed = prune
    ? others.map((one): Step => ({ act: 'remove grant', name: nameOf(one), id: one.permissionId }))
    : []
  return {
    steps: [...made, ...removed],
    after: [
      ...known.filter((one) => !prune || isWanted.has(nameOf(one))).map(grantEntry),
      ...made.map(({ body }) => body),
    ],
    kept: prune ? [] : others.map((one) => `grant ${nameOf(one)}`),
    unchanged: isWanted.size - made.length,
  }
}

const nameOf = ({ grantor, grantee, scope }: Pick<PermissionView, 'grantor' | 'grantee' | 'scope'>): string =>
  `${scope} of ${grantor} to ${grantee}`
