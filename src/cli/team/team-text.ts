import { createTwoFilesPatch } from 'diff'
import { Document, isScalar, visit } from 'yaml'
import { escapeObeyed, hasObeyed } from '../../client/terminal-text.ts'
import { shortOf } from './addresses.ts'
import { fieldsAt, type Team } from './team.ts'

/** A team in YAML. The same team has the same text. */
export function teamText(team: Team): string {
  // Also a reader of YAML 1.1 takes `no` and `1e3` for texts then.
  const document = new Document(teamValue(team), { compat: 'yaml-1.1', aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_key, node) => {
      if (isScalar(node) && typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  // A line is not folded, so that a change of a word is a change of its line.
  return escapeObeyed(document.toString({ lineWidth: 0 }))
}

/** Of a text of white space alone, a block keeps too little. */
const needsQuotes = (text: string): boolean => hasObeyed(text) || text.trim() === ''

/** A team as plain lists, with handles as they are written in YAML, and the fields of each entry in one order. */
export function teamValue({ agents = [], subscriptions = [], grants = [] }: Team): object {
  const short = (names: readonly string[] | undefined) => names?.map(shortOf)
  return {
    agents: agents.map((agent) =>
      ordered('agents', { ...agent, handle: shortOf(agent.handle), aliases: short(agent.aliases) }),
    ),
    subscriptions: subscriptions.map((one) =>
      ordered('subscriptions', {
        ...one,
        agentIdentity: shortOf(one.agentIdentity),
        filters: one.filters && { ...one.filters, senderFilter: short(one.filters.senderFilter) },
      }),
    ),
    grants: grants.map((grant) =>
      ordered('grants', { ...grant, grantor: shortOf(grant.grantor), grantee: shortOf(grant.grantee) }),
    ),
  }
}

function ordered(list: string, entry: object): object {
  const fields = new Map(Object.entries(entry))
  return Object.fromEntries(
    (fieldsAt[list] ?? []).flatMap((name) => {
      const value = fields.get(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** The difference of two teams as a unified diff; empty where there is none. */
export function teamDiff(before: Team, after: Team): string {
  const [from, to] = [teamText(before), teamText(after)]
  if (from === to) return ''
  return createTwoFilesPatch('gateway', 'afterwards', from, to, '', '').replace(/^=+\n/, '')
}
