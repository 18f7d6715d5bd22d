import { a2aOperations } from '../../src/fronts/access/a2a-operations.ts'
import type { AuditRule, Operation, OperatorReach, Reach } from '../../src/fronts/access/operation.ts'
import { publicRoutes } from '../../src/fronts/access/public-routes.ts'
import { metricsOperation } from '../../src/fronts/http/metrics.ts'
import { mcpOperations } from '../../src/fronts/mcp/http/mcp-table.ts'
import { restOperations } from '../../src/fronts/rest/table.ts'

const reaches: Record<Reach, string> = {
  project: 'everything in its project',
  own: 'its own resources',
  party: 'resources in which it takes part: as sender, recipient, originator or assignee',
  granted: 'its own resources, and those of agents that granted it',
  contacts: 'agents that accept mail from it',
  welcome: 'agents that accept its messages over A2A',
  never: 'nothing',
}
const operators: Record<OperatorReach, string> = {
  any: 'yes',
  admin: 'of all projects',
  own: 'on its own resources',
  never: 'no',
}
const audits: Record<AuditRule, string> = {
  first: 'before the answer',
  soon: 'within 100 ms',
  operator: 'of an operator',
  no: '',
}

const headings = ['operation', 'scope', 'operator', 'agent', 'agent of another project', 'audited']

/** docs/access.md, as the code has it. */
export function accessPage(): string {
  return `# Who may do what

Written by \`npm run access:docs\` from \`src/fronts/access\` and \`src/fronts/rest\`; a test compares them. The table is enforced in one place for each transport. A
request without a row is refused. Over REST a route is declared with its row.

What is read before: over REST and gRPC the key, and no body. A2A over HTTP reads the key, then the called agent, which must accept calls of the caller,
and then the body within its [limits](limits.md), because JSON-RPC names the operation there. MCP reads the key and the body; each call of REST or A2A
that a tool, a resource or a prompt makes is checked by its own row.

- **scope**: the scope that the key must have. Without it the answer is 403 \`forbidden\`, \`PERMISSION_DENIED\` over gRPC. Sending an A2A message with a push config
  also needs \`manage\` and \`read\`, and a grant of anything but \`CAN_REPLY_TO\` also \`read\`: a key cannot pass on what it may not read. A wake stream whose wakes have subjects
  needs \`read\` too. Waiting mail (\`pendingSignals\`) goes along with answers to keys that have both \`read\` and \`work\`.
  \`any\` marks operations of a key on itself: every key may read whose it is and sign in on the page, and every key of an agent revoke itself. Revoking another key needs \`mint\`,
  another token \`manage\`. Keys of operators are revoked by an admin. \`approve\` is in no role and in no key of an agent: an operator key has it that was made for a person,
  with a label and \`approve: true\`, and a token that names the scope and its person ([approvals.md](approvals.md)).
- **operator**: whether an operator may do it within its projects, or only an operator of all projects. A viewer has only the scope \`read\`.
- **agent**, **agent of another project**: the resources of this project on which the agent may do it. Resources that a caller may not see are answered as if they did not exist.
- **audited**: when the audit has the record of a successful operation. Refusals (\`unauthenticated\`, \`forbidden\`) are audited for every operation, other failures for
  every audited operation. Similar ones within a minute are one record with a count.

${list(Object.entries(reaches).map(([word, meaning]) => `\`${word}\`: ${meaning}`))}

## REST

${table(
  ['route', ...headings],
  restOperations.map((row) => [code(row.route), ...cells(row)]),
)}

## A2A

This table applies to JSON-RPC, HTTP+JSON and gRPC, v1.0 and v0.3.

${table(
  [...headings, 'HTTP+JSON', 'JSON-RPC v0.3', 'gRPC v0.3'],
  a2aOperations.map((row) => [...cells(row), row.http.map(path).join(', '), code(row.legacyRpc), code(row.legacyGrpc)]),
)}

## Metrics

Without a key with \`ROUSE_METRICS=open\`.

${table(['route', ...headings], [[code(metricsOperation.route), ...cells(metricsOperation)]])}

## MCP

Each tool has the access of the route that it calls, and is audited as that.

${table(
  ['route', ...headings],
  mcpOperations.map((row) => [code(row.route), ...cells(row)]),
)}

## For everybody

Without a key, or with any:

${list(publicRoutes.map((route) => code(route)))}

The card of a private agent is shown only to its own project.
`
}

function cells({ name, scope, also, operator, agent, peer, audited }: Operation): string[] {
  return [
    code(name),
    [scope, ...(also ? [also] : [])].map(code).join(', '),
    operators[operator],
    code(agent),
    code(peer),
    audits[audited],
  ]
}

function path(route: string): string {
  return code(route.replaceAll('\\', ''))
}

function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``
}

function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n')
}

function table(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = names.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]!.length)))
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [line(names), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
