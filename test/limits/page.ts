import { fileURLToPath } from 'node:url'
import * as gateway from '../../src/gateway-limits.ts'
import type { Limit } from '../../src/limits.ts'
import * as limits from '../../src/limits.ts'
import * as operators from '../../src/operator-limits.ts'
import * as shares from '../../src/share-limits.ts'
import { restFields } from './rest-fields.ts'

const tables = { ...limits, ...gateway, ...operators, ...shares }

export const pagePath = fileURLToPath(new URL('../../docs/limits.md', import.meta.url))

const intro = `# Limits

<!-- Made from src/limits.ts, src/gateway-limits.ts, src/operator-limits.ts, src/share-limits.ts and the schemas of the routes by \`npm run limits:docs\`. A test fails when the two differ. -->

The limits of one request and one answer, and how much of a gateway each agent and project may use. Every refusal names the limit and
the remedy.

| refused with                                   | where                                                                                                      |
| ---------------------------------------------- | ---------------------------------------------------------------------------------------------------------- |
| 400 \`invalid-request\`, 413 \`payload-too-large\` | a request is too large, or has too many items                                                              |
| 429 \`rate-limited\`                             | a rate is exceeded, or too many requests wait: \`limit\`, \`limitName\`, \`retryAfterSeconds\` and \`Retry-After\`  |
| 429 \`storm-breaker\`, \`recipient-storm\`         | agents write to each other [without end](#storms-between-agents): the same fields                            |
| 429 \`limit-exceeded\`                           | the number is reached: \`limit\` is its name, \`max\` its value. Remove one, or ask the operator               |
| 429 \`quota-exceeded\`                           | too much is stored: \`limit\`, \`limitName\`. Reading, answering and deleting still work                       |

A2A has the same fields in the \`ErrorInfo\` of its error, the same over JSON-RPC, HTTP+JSON and gRPC: reason \`RATE_LIMITED\` for a rate and for the
storm breakers of mail, otherwise the code in capital letters (\`LIMIT_EXCEEDED\`), with \`code\`, \`field\`, \`limitName\`, \`max\` and
\`retryAfterSeconds\` as metadata. HTTP+JSON answers 429; gRPC \`RESOURCE_EXHAUSTED\` with \`grpc-retry-pushback-ms\`.

The operator sets the limits marked "per project": \`PATCH /v1/projects/{project} {"limits": {"streams": 200, "keys": null}}\` or
\`rouse project limits <project> --set streams=200 --reset keys\`. A number applies from each caller's next request on, on every gateway; 0 is no
limit; null restores the default. \`GET /v1/projects/{project}\` shows them. The admin key has no
rates and no queue; other keys of operators, and their tokens, have [limits of their own](#operator-limits).

An agent may use a whole rate at once; it becomes available again evenly over time. While other agents send requests too, its requests begin
at a [pace](#company-limits). An act of an agent also counts against the rate of its project, where there is one; an act that one of the two rates
refuses counts against neither. What operators do counts against no rate of a project.

Rates are counted in memory, on each gateway: with three gateways an agent has up to three times as much, unless its
requests go to one gateway. Only \`messagesPerMinute\` and the [storm limits](#storms-between-agents) are counted in the store: mail when it is sent, A2A messages
within a second. Stored bytes are written every two seconds and read again every minute. Retention of mail reduces
them; tasks are kept.

What is stored in numbers, that is subscriptions, push configs, keys, permissions and claims, has no limit for a project as a whole: to count it would
take longer with each new one. It is bounded by \`agents\` times the number of one agent.
`

/** Tables in the order of the page; others follow under their own name. */
const headings: Record<string, string> = {
  inputLimits: 'One request',
  taskLimits: 'One task',
  outputLimits: 'One answer',
  pageLimits: 'Pages',
  openLimits: 'Streams and unread answers',
  agentRates: 'How often one agent may act (per project)',
  projectRates: 'How often the agents of a project may act (per project)',
  agentNumbers: 'How much one agent may have (per project)',
  oneKeyLimits: 'What one key may use of the limits of its agent',
  keptLimits: 'How many records of wakes are kept',
  projectNumbers: 'How much a project may have (per project)',
  stormLimits: 'Storms between agents',
  memoryLimits: 'Memory of a gateway',
}

/** Returns docs/limits.md as the code defines it. */
export function renderPage(): string {
  const known = Object.keys(headings)
  const others = Object.keys(tables).filter((name) => !known.includes(name) && name !== 'projectLimits')
  const names = [...known, ...others.sort()]
  const sections = names.flatMap((name) => {
    const table = (tables as Record<string, unknown>)[name]
    return isTable(table) ? [section(headings[name] ?? titled(name), table)] : []
  })
  return [intro, ...sections, fields()].join('\n')
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
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]!.length)))
  const line = (row: readonly string[]): string => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  const [head, ...body] = cells
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
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

function titled(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function isTable(value: unknown): value is Record<string, Limit> {
  if (typeof value !== 'object' || value === null) return false
  const rows: unknown[] = Object.values(value)
  return rows.length > 0 && rows.every((row) => typeof (row as Limit)?.what === 'string')
}
