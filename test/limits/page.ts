import { fileURLToPath } from 'node:url'
import type { Limit } from '../../src/limits.ts'
import * as limits from '../../src/limits.ts'
import * as shares from '../../src/share-limits.ts'

const tables = { ...limits, ...shares }

export const pagePath = fileURLToPath(new URL('../../docs/limits.md', import.meta.url))

const intro = `# Limits

<!-- Made from src/limits.ts and src/share-limits.ts by \`npm run limits:docs\`. A test fails when the two differ. -->

What one request may carry, what one answer may hold, and what each agent and project may use of a gateway. Every refusal names the limit and
the remedy.

| refused with                                   | where                                                                                                      |
| ---------------------------------------------- | ---------------------------------------------------------------------------------------------------------- |
| 400 \`invalid-request\`, 413 \`payload-too-large\` | a request that carries too much                                                                            |
| 429 \`rate-limited\`                             | a rate is used up, or too many requests wait: \`limit\`, \`limitName\`, \`retryAfterSeconds\` and \`Retry-After\`  |
| 429 \`limit-exceeded\`                           | there is no room for one more: \`limit\` is the name, \`max\` the value. Remove one, or ask the operator       |
| 429 \`quota-exceeded\`                           | too much is stored: \`limit\`, \`limitName\`. Reading, answering and deleting go on                            |

JSON-RPC says the same in the \`ErrorInfo\` of its error: reason \`RATE_LIMITED\` for a rate and for the storm breakers of mail, else
\`LIMIT_EXCEEDED\` or \`QUOTA_EXCEEDED\`, with \`code\`, \`limitName\` and \`retryAfterSeconds\` as metadata; HTTP+JSON answers 429; gRPC
\`RESOURCE_EXHAUSTED\` with the same details and \`grpc-retry-pushback-ms\`.

The limits marked "per project" are the operator's to set: \`PATCH /v1/projects/{project} {"limits": {"streams": 200, "keys": null}}\` or
\`rouse project limits <project> --set streams=200 --reset keys\`. A number holds from each caller's next request on, on every gateway; 0 is no
limit; null is the default again. \`GET /v1/projects/{project}\` shows them. The operator itself has no rates and waits in no line.

Rates let all of an allowance be used at once, and give it back evenly. They are counted in memory, on each gateway: behind three gateways an
agent has up to three times as much, unless its requests stay with one. \`messagesPerMinute\` alone is kept in the store: mail is counted as it
is sent, A2A messages within a second. Bytes are written every two seconds and read again every minute; mail that retention removes gives them
back, tasks are kept.
`

/** Tables in the order of the page; others follow under their own name. */
const headings: Record<string, string> = {
  inputLimits: 'What a request may carry',
  taskLimits: 'What a task may hold',
  outputLimits: 'What an answer may carry',
  pageLimits: 'Pages',
  openLimits: 'What streams and unread answers may take',
  agentRates: 'How often one agent may act (per project)',
  projectRates: 'How often the agents of a project may act (per project)',
  agentNumbers: 'How much one agent may have (per project)',
  projectNumbers: 'How much a project may have (per project)',
  memoryLimits: 'What a gateway keeps in memory',
}

/** docs/limits.md as the code has it. */
export function renderPage(): string {
  const known = Object.keys(headings)
  const others = Object.keys(tables).filter((name) => !known.includes(name) && name !== 'projectLimits')
  const names = [...known, ...others.sort()]
  const sections = names.flatMap((name) => {
    const table = (tables as Record<string, unknown>)[name]
    return isTable(table) ? [section(headings[name] ?? titled(name), table)] : []
  })
  return [intro, ...sections].join('\n')
}

/** By name: a module gives its exports in an order of its own. */

function section(title: string, table: Record<string, Limit>): string {
  const rows = Object.entries(table).map(([name, { max, unit, what }]) => [`\`${name}\``, amount(max, unit), what])
  const cells = [['limit', 'default', 'what'], ...rows] as string[][]
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]!.length)))
  const line = (row: readonly string[]): string => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  const [head, ...body] = cells
  return [`## ${title}`, '', line(head!), line(widths.map((width) => '-'.repeat(width))), ...body.map(line), ''].join(
    '\n',
  )
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
