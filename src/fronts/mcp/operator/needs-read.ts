import { z } from 'zod'
import { needKinds } from '../../../needs/need.ts'
import { address, line, oneOf } from '../../rest/fields.ts'
import type { NeedView } from '../../rest/needs/view.ts'
import { compact, cutBody } from '../tools/compact.ts'
import { counted } from '../tools/counted.ts'
import { nextPageToken } from '../tools/outputs.ts'
import { reads } from '../tools/tool.ts'
import { operatorTool } from './operator-tool.ts'

/** The most characters of all texts of a list together, and of one at least. */
const textBytes = { all: 24_000, least: 200 }

export const needsRead = operatorTool({
  name: 'needs_read',
  scopes: ['read'],
  title: 'What waits for a person',
  description:
    'Lists what waits for a person in the project, the longest wait first: five of an agent and kind, all with agent. Look here first. kind says why: input and auth (a task asks: task_write answers), mail (to the operator: message_write), failing and degraded (wakes fail, or are no longer sent: subscription_write), retrying (a receiver is away: deliveries_read says why), gate and parked (recovery_write), capped (it has had as many turns as the gate allows), late (nobody has begun a task for ten minutes), approval (a harness waits for a person, who alone can approve, and not with these tools). need_write puts one off. counts has all kinds, also with a filter.',
  input: z.strictObject({
    kind: oneOf(needKinds).describe('Only these').optional(),
    agent: address.describe('Only what concerns this agent, and all of it: @donna').optional(),
    pageToken: line(500).describe('The nextPageToken of the page before').optional(),
  }),
  output: z.looseObject({
    needs: z.array(
      z.looseObject({
        id: z.string().describe('The same as long as it waits'),
        kind: z.string(),
        agent: z.string().optional().describe('Whose it is; absent: of the project'),
        since: z.string(),
        text: z.string().describe('What was asked or reported'),
        taskId: z.string().optional(),
        version: z.int().optional().describe('Of the task: expectedVersion of task_write'),
        messageId: z.string().optional(),
        subscriptionId: z.string().optional(),
        snoozedUntil: z.string().optional().describe('It was put off until then'),
      }),
    ),
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
  run: async ({ rest }, { kind, agent, pageToken }) => {
    const isAll = kind === undefined && agent === undefined
    const found = await rest('GET /v1/needs', { query: { kind, agent, pageToken, limit: 100 } })
    const { total: counts, atLeast } = isAll ? found : await rest('GET /v1/needs', { query: { limit: 1 } })
    const { needs, more, folded, nextPageToken: next } = found
    const room = Math.max(textBytes.least, Math.floor(textBytes.all / Math.max(1, needs.length)))
    const others = compact({ atLeast, folded: folded.map(compact), nextPageToken: next || null })
    return { more, counts, ...others, needs: needs.map((need) => shown(need, room)) }
  },
})

function shown(need: NeedView, room: number) {
  return { ...compact(need), text: cutBody(need.text, room, 'Name its kind and agent to see more') }
}

/** How often each word is there. Pure. */
export function countsOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
