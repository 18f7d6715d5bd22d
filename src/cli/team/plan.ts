import { operatorIdentity } from '../../words/callers.ts'
import { resolverOf } from './addresses.ts'
import { knownTeam } from './known-entries.ts'
import { planAgents } from './plan-agents.ts'
import { planGrants } from './plan-grants.ts'
import { planSubscriptions } from './plan-subscriptions.ts'
import type { KnownTeam } from './read-team.ts'
import { isRemoval, type Step } from './steps.ts'
import type { Team } from './team.ts'

export interface Plan {
  /** In the order in which they have to be done. */
  readonly steps: readonly Step[]
  readonly before: Required<Team>
  readonly after: Required<Team>
  readonly kept: readonly string[]
  /** Entries of the file that the gateway has as they are. */
  readonly unchanged: number
  /** Steps that name an agent of this project which will not be there. */
  readonly unknown: readonly { readonly step: Step; readonly agent: string }[]
}

/**
 * Returns the steps after which the gateway has what a file says. A field that an entry does not name stays as it is. `prune` also removes
 * what the lists of the file do not have; a list that the file does not have stays whole. Pure.
 */
export function planTeam(known: KnownTeam, file: Team, prune: boolean): Plan {
  const before = knownTeam(known)
  const agents = planAgents(known.agents, file.agents, prune)
  const gone = new Set(agents.steps.flatMap((step) => (step.act === 'remove agent' ? [step.handle] : [])))
  const isGone = (handle: string) => gone.has(handle)
  const resolve = resolverOf(known.project, agents.after)
  // The subscriptions and grants of a removed agent go with it.
  const grants = planGrants(
    known.grants.filter(({ grantor, grantee }) => !isGone(grantor) && !isGone(grantee)),
    file.grants,
    { prune, resolve },
  )
  const subscriptions = planSubscriptions(
    known.subscriptions.filter(({ agentIdentity }) => !isGone(agentIdentity)),
    file.subscriptions,
    { prune, resolve },
  )
  const plans = [agents, grants, subscriptions] as const
  const steps = plans.flatMap((plan): readonly Step[] => plan.steps)
  const isThere = new Set([operatorIdentity, ...agents.after.map(({ handle }) => handle)])
  return {
    steps: [...steps.filter((step) => !isRemoval(step)), ...steps.filter(isRemoval).reverse()],
    before,
    after: { agents: [...agents.after], subscriptions: [...subscriptions.after], grants: [...grants.after] },
    kept: plans.flatMap(({ kept }) => kept),
    unchanged: plans.reduce((sum, { unchanged }) => sum + unchanged, 0),
    // An agent of another project has its project before it.
    unknown: steps.flatMap((step) => {
      const agent = agentsOf(step).find((name) => name.startsWith('@') && !isThere.has(name))
      return agent === undefined ? [] : [{ step, agent }]
    }),
  }
}

function agentsOf(step: Step): readonly string[] {
  if (step.act === 'make grant') return [step.body.grantor, step.body.grantee]
  return step.act === 'make subscription' ? [step.body.agentIdentity] : []
}
