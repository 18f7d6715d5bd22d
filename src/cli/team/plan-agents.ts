import { isDeepStrictEqual } from 'node:util'
import type { AgentView } from '../../client/route-types.ts'
import { agentEntry } from './known-entries.ts'
import { type ListPlan, type Step, untouched } from './steps.ts'
import type { TeamAgent } from './team.ts'

type Changes = Omit<Partial<TeamAgent>, 'handle'>

/** Returns the steps for the agents. Without `prune` aliases and skills are added and changed, and none is taken away. Pure. */
export function planAgents(
  known: readonly AgentView[],
  wanted: readonly TeamAgent[] | undefined,
  prune: boolean,
): ListPlan<TeamAgent> {
  if (wanted === undefined) return untouched(known.map(agentEntry))
  const entries = new Map(wanted.map((entry, index) => [entry.handle, { entry, index }]))
  const changes = new Map(
    known.flatMap((agent) => {
      const found = entries.get(agent.handle)
      return found ? [[agent.handle, changesOf(agent, found.entry, prune)] as const] : []
    }),
  )
  const isKnown = new Set(known.map(({ handle }) => handle))
  const made = wanted.flatMap((body, index): Step[] =>
    isKnown.has(body.handle) ? [] : [{ act: 'make agent', name: body.handle, index, body: ownNames(body) }],
  )
  const changed = known.flatMap((agent) => {
    const { handle } = agent
    const body = changes.get(handle) ?? {}
    if (Object.keys(body).length === 0) return []
    const step: Step = { act: 'change agent', name: handle, index: entries.get(handle)!.index, handle, body }
    return [{ step, isFirst: givesUpName(agent, body) }]
  })
  const others = known.filter(({ handle }) => !entries.has(handle))
  const removed = prune ? others.map(({ handle }): Step => ({ act: 'remove agent', name: handle, handle })) : []
  return {
    steps: [...inTurn(changed), ...made, ...removed],
    after: [
      ...known
        .filter((agent) => !prune || entries.has(agent.handle))
        .map((agent) => ({
          ...agentEntry(agent),
          ...changes.get(agent.handle),
        })),
      ...wanted.filter(({ handle }) => !isKnown.has(handle)),
    ],
    kept: prune
      ? []
      : [
          ...others.map(({ handle }) => `agent ${handle}`),
          ...known.flatMap((one) => keptOf(one, entries.get(one.handle)?.entry)),
        ],
    unchanged: changes.size - changed.length,
  }
}

/** A name is given up before another agent takes it. */
const inTurn = (changed: readonly { step: Step; isFirst: boolean }[]): Step[] =>
  [true, false].flatMap((first) => changed.filter(({ isFirst }) => isFirst === first).map(({ step }) => step))

const givesUpName = ({ aliases }: AgentView, { aliases: wanted, displayName }: Changes): boolean =>
  displayName !== undefined || (wanted !== undefined && aliases.some((one) => !wanted.includes(one)))

function changesOf(before: AgentView, entry: TeamAgent, prune: boolean): Changes {
  const { handle: _handle, ...fields } = ownNames(entry)
  const { aliases, skills } = fields
  const wanted: Changes = prune
    ? fields
    : {
        ...fields,
        ...(aliases && { aliases: [...new Set([...before.aliases, ...aliases])] }),
        ...(skills && { skills: withSkills(before.skills, skills) }),
      }
  const differs = ([name, value]: [string, unknown]): boolean => {
    const now = before[name as keyof Changes]
    return value !== undefined && !isDeepStrictEqual(inOrder(name, now), inOrder(name, value))
  }
  return Object.fromEntries(Object.entries(wanted).filter(differs))
}

/** Aliases have no order. */
const inOrder = (name: string, value: unknown): unknown =>
  name === 'aliases' ? [...(value as readonly string[])].sort() : value

/** The gateway takes no handle for an alias of the same agent. */
const ownNames = (entry: TeamAgent): TeamAgent =>
  entry.aliases ? { ...entry, aliases: [...new Set(entry.aliases)].filter((one) => one !== entry.handle) } : entry

type Skill = AgentView['skills'][number]

/** Skills with those of a file: one of the same id is replaced. */
function withSkills(known: readonly Skill[], wanted: readonly Skill[]): TeamAgent['skills'] {
  const byId = new Map(wanted.map((skill) => [skill.id, skill]))
  const isKnown = new Set(known.map(({ id }) => id))
  return [...known.map((skill) => byId.get(skill.id) ?? skill), ...wanted.filter(({ id }) => !isKnown.has(id))]
}

/** The aliases and skills that an agent has and its entry does not. */
function keptOf({ handle, aliases, skills }: AgentView, entry: TeamAgent | undefined): string[] {
  const { aliases: named, skills: listed } = entry ?? {}
  return [
    ...(named ? aliases.filter((one) => !named.includes(one)).map((one) => `alias ${one} of ${handle}`) : []),
    ...(listed
      ? skills.filter(({ id }) => !listed.some((one) => one.id === id)).map(({ id }) => `skill ${id} of ${handle}`)
      : []),
  ]
}
