import type { Section, TeamAgent, TeamGrant, TeamSubscription } from './team.ts'

/** One call that brings the gateway nearer to the file. */
export type Step =
  | (StepName & { readonly act: 'make agent'; readonly body: TeamAgent })
  | (StepName & {
      readonly act: 'change agent'
      readonly handle: string
      readonly body: Omit<Partial<TeamAgent>, 'handle'>
    })
  | (StepName & { readonly act: 'remove agent'; readonly handle: string })
  | (StepName & { readonly act: 'make subscription'; readonly body: MadeSubscription })
  | (StepName & { readonly act: 'change subscription'; readonly id: string; readonly body: Partial<TeamSubscription> })
  | (StepName & { readonly act: 'remove subscription'; readonly id: string })
  | (StepName & { readonly act: 'make grant'; readonly body: TeamGrant })
  | (StepName & { readonly act: 'remove grant'; readonly id: string })

export type MadeSubscription = TeamSubscription & Required<Pick<TeamSubscription, 'harnessTarget'>>

interface StepName {
  /** For people: `@donna`. */
  readonly name: string
  /** The number of its entry in its list of the file; absent: it is not in the file. */
  readonly index?: number
}

/** The steps that follow from the entries of one list. */
export interface ListPlan<Entry> {
  readonly steps: readonly Step[]
  /** The entries that the gateway has afterwards. */
  readonly after: readonly Entry[]
  /** The things that the gateway has and the file does not, and that stay: `agent @felix`. */
  readonly kept: readonly string[]
  readonly unchanged: number
}

export interface ListOptions {
  readonly prune: boolean
  /** The handle of an agent that is named by an alias. */
  readonly resolve: (address: string) => string
}

/** The plan of a list that the file does not have. */
export const untouched = <Entry>(after: readonly Entry[]): ListPlan<Entry> => ({
  steps: [],
  after,
  kept: [],
  unchanged: 0,
})

export const isRemoval = ({ act }: Step): boolean => act.startsWith('remove')

/** The list of the file that a step belongs to. */
export const sectionOf = ({ act }: Step): Section => `${act.split(' ')[1] as 'agent' | 'grant' | 'subscription'}s`
