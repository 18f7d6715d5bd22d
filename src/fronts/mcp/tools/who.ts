import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../../lib/json.ts'
import { catalogQuery } from '../../rest/catalog-input.ts'
import { address } from '../../rest/fields.ts'
import { pathPart } from '../ask-api.ts'
import { compact, cutBody } from './compact.ts'
import { pageSize, pageToken } from './fields.ts'
import { nextPageToken } from './outputs.ts'
import { reads, tool } from './tool.ts'

const limitDefault = 50
const fields = catalogQuery.shape

const shownAgent = z.looseObject({
  handle: z.string().describe('Its address: what send_message and send_task take'),
  displayName: z.string().optional(),
  description: z.string().optional(),
  skills: z.array(z.looseObject({ id: z.string(), name: z.string() })).optional(),
  presence: z
    .string()
    .optional()
    .describe('What its harness does: idle, active, waitingOnApproval, userTyping, unknown'),
  surface: z
    .string()
    .optional()
    .describe('The harness of its live session; absent: it has none, and mail waits for it'),
  lastSeenAt: z.string().optional(),
})

export const who = tool({
  name: 'who',
  title: 'Who is there',
  description:
    'Lists the agents of your project: their addresses, what they do, and whether they are there now. Or one agent, by handle. With skill, tag or q it searches, also among the public agents of other projects. Use it to find whom to write to. An agent without a live session still gets its mail, later.',
  input: z.strictObject({
    agent: address.describe('One agent of your project: @donna').optional(),
    skill: fields.skill.describe('Only agents with this skill'),
    tag: fields.tag.describe('Only agents with a skill with this tag'),
    q: fields.q.describe('Only agents whose card has this text'),
    limit: pageSize(100, limitDefault),
    pageToken,
  }),
  output: z.looseObject({ agents: z.array(shownAgent), nextPageToken }),
  annotations: reads,
  quotes: true,
  say: ({ agents }) =>
    agents.length === 0 ? 'No such agents.' : `${agents.length} agent${agents.length === 1 ? '' : 's'}.`,
  run: async ({ rest }, { agent, skill, tag, q, limit = limitDefault, pageToken: after }) => {
    if (agent !== undefined) {
      pathPart('agent', agent)
      return {
        agents: [shortAgent({ ...(await rest('GET /v1/agents/:handle', { params: { handle: agent } })) }, 4_000)],
      }
    }
    const page = { limit, pageToken: after }
    if (skill === undefined && tag === undefined && q === undefined) {
      const { agents, nextPageToken: next } = await rest('GET /v1/agents', { query: page })
      return {
        agents: agents.map((one) => shortAgent({ ...one }, 300)),
        ...(next === '' ? {} : { nextPageToken: next }),
      }
    }
    const { cards, nextPageToken: next } = await rest('GET /v1/catalog', { query: { skill, tag, q, ...page } })
    return { agents: cards.map(fromCard), ...(next === '' ? {} : { nextPageToken: next }) }
  },
})

/** @param bytesMax of the description */
function shortAgent(agent: JsonObject, bytesMax: number): JsonObject {
  const { handle, displayName, description, aliases, skills, presence, session, lastSeenAt, project } = agent
  return compact({
    handle,
    displayName,
    project,
    description: typeof description === 'string' ? cutBody(description, bytesMax, 'who with agent shows more') : null,
    aliases,
    skills: shortSkills(skills),
    presence: isJsonObject(presence) ? presence.state : null,
    surface: isJsonObject(session) ? session.surface : null,
    lastSeenAt,
  })
}

function fromCard({ name, description, skills, supportedInterfaces }: JsonObject): JsonObject {
  return compact({
    handle: addressIn(supportedInterfaces),
    displayName: name,
    description: typeof description === 'string' ? cutBody(description, 300, 'its card has more') : null,
    skills: shortSkills(skills),
  })
}

function shortSkills(skills: unknown): JsonObject[] {
  const all: unknown[] = Array.isArray(skills) ? skills : []
  return all
    .filter(isJsonObject)
    .slice(0, 20)
    .map(({ id, name, tags }) => compact({ id, name, tags: tags ?? null }))
}

/** `@donna`, or `web:@donna`, from the addresses in a card. */
function addressIn(interfaces: unknown): string {
  const [first] = Array.isArray(interfaces) ? interfaces : []
  const url = isJsonObject(first) ? String(first.url) : ''
  const [, project, handle = ''] = /(?:\/projects\/([^/]+))?\/agents\/([^/]+)\/?$/.exec(url) ?? []
  const bare = `@${decodeURIComponent(handle)}`
  return project === undefined ? bare : `${decodeURIComponent(project)}:${bare}`
}
