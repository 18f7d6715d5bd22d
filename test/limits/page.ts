import { fileURLToPath } from 'node:url'
import type { Limit } from '../../src/limits.ts'
import * as limits from '../../src/limits.ts'
import { restFields } from './rest-fields.ts'

export const pagePath = fileURLToPath(new URL('../../docs/limits.md', import.meta.url))

const intro = `# Limits

<!-- Made from src/limits.ts and the schemas of the routes by \`npm run limits:docs\`. A test fails when the two differ. -->

How large a request may be, and how much of a gateway each agent and each project may use. Every refusal names its limit and the remedy.
Nothing is slowed down: what is not refused is served.

| refused with | when |
| --- | --- |
| 400 \`invalid-request\`, 413 \`payload-too-large\` | a request is too large, or has too many items |
| 429 \`rate-limited\` | a rate is used up, or too much is under way: \`limit\`, \`limitName\`, \`retryAfterSeconds\` and \`Retry-After\` |
| 429 \`storm-breaker\`, \`recipient-storm\` | agents write to each other without end: the same fields |
| 429 \`limit-exceeded\` | a number is reached: \`limit\` is its name, \`max\` its value |
| 429 \`quota-exceeded\` | too much is stored. Reading, answering and deleting still work |
| 503 \`overloaded\` | the gateway has more work than it can do |

A2A has the same fields in the \`ErrorInfo\` of its error: reason \`RATE_LIMITED\` for a rate and a storm, otherwise the code in capital letters.

**Rates** are token buckets: a whole rate may be used at once, unless its line says less, and comes back evenly. An act counts for its agent and for its
project, which may do and have ${limits.projectFactor} times as much as one agent; an act that one of the two refuses counts for neither. They are
counted in memory, on each gateway; \`messagesPerMinute\` and the storms are counted in the store, for all gateways together.

**Requests under way.** A request waits for its slot when \`requestsAtOnce\` are worked on, and is refused when \`requestsQueued\` wait or ten seconds
have passed. A request has no slot while its body arrives, and none while it waits for mail, a task or a stream. It
keeps its slot until its work has ended, also if its client has hung up.

**Operators.** The admin key has no limits. Another key of an operator, and each token of one, may do as much as a project.

**Per project.** The operator sets the limits of the last table: \`PATCH /v1/projects/{project} {"limits": {"streams": 200, "keys": null}}\` or
\`rouse project limits <project> --set streams=200 --reset keys\`. 0 is no limit; null restores the default.
`

/** Returns docs/limits.md as the code defines it. */
export function renderPage(): string {
  return [
    intro,
    section('Size and shape', limits.sizeLimits),
    section('Connections', limits.connectionLimits),
    section('A gateway', limits.gatewayLimits),
    section('An agent (per project)', limits.projectLimits),
    fields(),
  ].join('\n')
}

const fieldsIntro = `A refusal is 400 with the field. The tools of MCP call these routes, so their fields have these limits too. \`x[]\` is an item of a list, \`[]\` one of a body that
is a list. The limits of a project are whole numbers; a field with one of a list of words has no other limit.
`

function fields(): string {
  const rows = restFields()
    .filter(({ name }) => !name.startsWith('limits.'))
    .map(({ name, bound, routes }) => [`\`${name || '[]'}\``, bound ?? 'none', shown(routes)])
  return ['## Fields of REST', '', fieldsIntro, lines([['field', 'at most', 'routes'], ...rows]), ''].join('\n')
}

function section(title: string, table: Record<string, Limit>): string {
  const rows = Object.entries(table).map(([name, { max, unit, what }]) => [`\`${name}\``, amount(max, unit), what])
  return [`## ${title}`, '', lines([['limit', 'default', 'what'], ...rows]), ''].join('\n')
}

function shown(routes: readonly string[]): string {
  return routes.length > 3 ? `${routes.slice(0, 2).join(', ')} and ${routes.length - 2} more` : routes.join(', ')
}

/** A table: the head, then the rows. */
function lines(cells: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`
  const [head, ...body] = cells
  return [line(head!), line(head!.map(() => '---')), ...body.map(line)].join('\n')
}

function amount(max: number, unit: string): string {
  const units = [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
  ] as const
  const large = unit === 'bytes' ? units.find(([, size]) => max >= size && max % size === 0) : undefined
  return large ? `${max / large[1]} ${large[0]}` : `${max.toLocaleString('en')} ${unit}`
}
