import { z } from 'zod'
import { needKinds } from '../../../needs/need.ts'
import { urgencies, urgencyOf } from '../../../needs/urgency.ts'
import { address, line, oneOf } from '../../rest/fields.ts'
import type { FoldedView, NeedsView, NeedView } from '../../rest/needs/view.ts'
import { compact, cutBody } from '../tools/compact.ts'
import { counted } from '../tools/counted.ts'
import { nextPageToken } from '../tools/outputs.ts'
import { reads } from '../tools/tool.ts'
import { operatorTool } from './operator-tool.ts'

/** The most characters of all texts of a list together, and of one at least. */
const textBytes = { all: 24_000, least: 200 }
/** The most lines for agents. */
const groupsMax = 100

export const needsRead = operatorTool({
  name: 'needs_read',
  scopes: ['read'],
  title: 'What waits for a person',
  description:
    'Lists what waits for a person in the project, the most urgent first: stops (work stands still until a person acts), wakes, late, mail. Of an agent and kind it has five, of late tasks and mail the oldest; with agent all. groups counts them, a line for each agent and kind. Look here first. kind says why: input and auth (a task asks: task_write answers), mail (to the operator: message_write), failing and degraded (wakes fail, or are no longer sent: subscription_write), retrying (a receiver is away: deliveries_read says why), gate and parked (recovery_write), capped (it has had as many turns as the gate allows), late (nobody has begun a task for ten minutes), key (a key ends within a week: whoever made it makes another), approval (a harness waits for a person, who alone can approve, and not with these tools). need_write puts one off. counts and byUrgency have all, also with a filter.',
  input: z.strictObject({
    urgency: oneOf(urgencies).describe('Only these').optional(),
    kind: oneOf(needKinds).describe('Only these').optional(),
    agent: address.describe('Only what concerns this agent, and all of it: @donna').optional(),
    pageToken: line(500).describe('The nextPageToken of the page before').optional(),
  }),
  output: z.looseObject({
    needs: z.array(
      z.looseObject({
        id: z.string().describe('The same as long as it waits'),
        urgency: z.string(),
        kind: z.string(),
        agent: z.string().optional().describe('Whose it is; absent: of the project'),
        since: z.string(),
        subject: z.string().optional().describe('Of its task or mail'),
        text: z.string().describe('What was asked or reported'),
        taskId: z.string().optional(),
        version: z.int().optional().describe('Of the task: expectedVersion of task_write'),
        messageId: z.string().optional(),
        subscriptionId: z.string().optional(),
        snoozedUntil: z.string().optional().describe('It was put off until then'),
      }),
    ),
    groups: z
      .array(z.looseObject({ urgency: z.string(), kind: z.string(), agent: z.string().optional(), count: z.int() }))
      .describe('How many of each agent and kind wait, without what was put off, in the same order'),
    byUrgency: z.record(z.string(), z.int()).describe('How many there are of each urgency, without what was put off'),
    counts: z.record(z.string(), z.int()).describe('How many there are of each kind, listed or not'),
    atLeast: z.array(z.string()).optional().describe('The kinds of which there are more than were counted'),
    folded: z
      .array(z.looseObject({ kind: z.string(), agent: z.string().optional(), count: z.int() }))
      .optional()
      .describe('Not listed. Name the agent to see them'),
    more: z.boolean().describe('There are more than are listed'),
    nextPageToken,
  }),
  annotations: reads,
  quotes: true,
  say: ({ needs }) => (needs.length === 0 ? 'Nothing waits for a person.' : `${counted(needs.length, 'need')}.`),
  run: async ({ rest }, { urgency, kind, agent, pageToken }) => {
    const isAll = kind === undefined && agent === undefined && urgency === undefined
    const found = await rest('GET /v1/needs', { query: { urgency, kind, agent, pageToken, limit: 100 } })
    const { total: counts, atLeast } = isAll ? found : await rest('GET /v1/needs', { query: { limit: 1 } })
    const { groups, counts: byUrgency, nextPageToken: next } = found
    const needs = agent === undefined ? found.needs.filter(isShown) : found.needs
    const folded = agent === undefined ? foldedOf(found) : []
    const more = found.more || needs.length < found.needs.length
    const room = Math.max(textBytes.least, Math.floor(textBytes.all / Math.max(1, needs.length)))
    const others = compact({ atLeast, folded: folded.slice(0, groupsMax).map(compact), nextPageToken: next || null })
    return {
      more,
      groups: groups.slice(0, groupsMax).map(compact),
      byUrgency,
      counts,
      ...others,
      needs: needs.map((need) => shown(need, room)),
    }
  },
})

const isOneOfMany = (kind: NeedView['kind']): boolean => ['late', 'mail'].includes(urgencyOf[kind])

/** Of what is late, and of mail, the first of an agent. */
function isShown({ kind, agent }: NeedView, at: number, all: readonly NeedView[]): boolean {
  return !isOneOfMany(kind) || all.findIndex((one) => one.kind === kind && one.agent === agent) === at
}

function foldedOf({ folded, groups }: NeedsView): FoldedView[] {
  const rest = groups.filter(({ kind, count }) => isOneOfMany(kind) && count > 1)
  return [
    ...folded.filter(({ kind }) => !isOneOfMany(kind)),
    ...rest.map(({ kind, agent, count, atLeast }) => ({ kind, agent, count: count - 1, atLeast })),
  ]
}

function shown(need: NeedView, room: number) {
  return { ...compact(need), text: cutBody(need.text, room, 'Name its kind and agent to see more') }
}

/** How often each word is there. Pure. */
export function countsOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
