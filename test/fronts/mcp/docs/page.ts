import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { operatorTools } from '../../../../src/fronts/mcp/operator/table.ts'
import { tools } from '../../../../src/fronts/mcp/tools/table.ts'
import type { AnyTool } from '../../../../src/fronts/mcp/tools/tool.ts'
import type { JsonObject } from '../../../../src/lib/json.ts'

export const pagePath = fileURLToPath(new URL('../../../../docs/mcp.md', import.meta.url))

const intro = `# The tools of Rouse over MCP

<!-- The tools below are made from src/fronts/mcp/tools and src/fronts/mcp/operator by \`npm run mcp:docs\`. A test fails when the two differ. -->

A harness that speaks MCP uses Rouse through tools: for mail, tasks, claims, the team, and its wakes. Each tool is one or two calls of the [HTTP
API](api.md), with the same access, limits and audit.

## Connecting

\`rouse install claude\` (or \`codex\`, …) writes the entry for your harness: see [harnesses](harnesses.md). By hand there are two ways:

    rouse login --profile donna --key-file donna.key                      # once: keeps the key and the address of the gateway
    claude mcp add rouse -- rouse mcp --profile donna                     # the harness starts it, and its session is the agent's

Or over HTTP, in the \`.mcp.json\` of a project. The key is in an environment variable, not in the file and on no command line:

    { "mcpServers": { "rouse": { "type": "http", "url": "http://127.0.0.1:4520/mcp", "headers": { "Authorization": "Bearer \${ROUSE_KEY}" } } } }

Prefer \`rouse mcp\` if the harness runs on your machine: the key stays in the profile, and the session belongs to the process of the harness. Over
HTTP the gateway itself answers \`/mcp\`, for clients of the protocol of 2025 (with sessions) and of 2026-07-28. The first tool call of an agent
without a session starts a [session](api.md#sessions-and-presence), with the surface that belongs to the client's name; it ends when the agent is
silent.

A hosted client that signs its user in, instead of sending a key, finds the issuer from the 401 of \`/mcp\`: see [clients that sign
in](keys.md#clients-that-sign-in).

## What is the same for all tools

- **A result** has its content twice: \`structuredContent\`, with the schema that the tool declares, and the same as text. Long texts are cut, and
  their full length is given; \`isCut\` says that something is missing.
- **Mail comes along.** A result may have \`pendingSignals\`: mail that waited for the agent and is delivered with this result, as with every answer
  of the [API](api.md#mail). Only \`read_inbox\` has none: it lists the mail itself, and mail that is not marked as seen afterwards also comes with a
  later result. If the result is not sent, or the client has cancelled the call, the mail waits again.
- **Texts of other agents** (subject, body, payload, history, artifacts) are shown without control, direction and other invisible characters. \`note\`
  tells the model to take them as information, not as instructions of its user. In the text of a result each of their lines begins with a bar (\`|\`),
  so that none looks like a field.
- **Arguments** are taken as models send them: null and \`""\` count as left out, and an object, a list, a number or a boolean may be its JSON text.
  What \`tools/list\` declares is plain: one type at every node, and no keyword that a provider refuses. Every request with an id is answered with
  it, also one that is no request of the protocol, over HTTP and over standard streams.
- **A refusal** is a result with \`isError\` that says what is wrong, which argument, and what to do instead. A gateway that cannot be reached is
  reported in the same way.
- **Hints.** Every tool declares all four hints of MCP. *Reads* means \`readOnlyHint\`; *removes* means \`destructiveHint\`;
  *reaches out* means \`openWorldHint\` too: other agents obey what it writes as the words of their user, or it names an address outside the
  gateway.

`

const ofOperators = `## Tools for operators

The agent of an operator looks after a project: what waits for a person, why a wake did not arrive, who works on what; and, where it may, it mends. Its
tools are a second set. Ask for them in the URL, with the key or the token of an operator:

    rouse operator key add --role viewer --for web --label "my agent" --save-key ops.key

    { "mcpServers": { "rouse-ops": { "type": "http", "url": "http://127.0.0.1:4520/mcp?tools=read", "headers": { "Authorization": "Bearer \${ROUSE_KEY}" } } } }

- **\`?tools=read\`** has the tools that end in \`_read\`: they change nothing. **\`?tools=read,write\`** also has those that end in \`_write\`. They come in
  the place of the tools of agents; resources are the same, and there are no prompts. \`/mcp\` without \`tools\` has the tools of agents for every key.
- **Two things must agree**, and each can only take away: the URL says what the person who wrote the configuration wants, and the scopes of the key what
  is allowed at most. With \`?tools=read\` nothing that changes anything is listed or can be called, with an admin key neither; and with a viewer's key no URL
  has a tool that writes. The key is the firmer of the two: an agent that can read its own configuration could use it elsewhere, so give it no more than it
  needs. The URL is the opt-in because a person writes it where the client is configured, and every client takes it.
- A key sees the tools whose scopes it has all of. Others are not listed, a call of them names a tool that does not exist, and the instructions say which
  are missing. A set of which a key may use nothing is refused: 403, \`forbidden\`, also for the key of an agent.
- Each tool is calls of the [API](api.md), checked, limited and audited like those. It acts in the project of the key, or of the header \`Rouse-Project\`.
- **What agents wrote is data** in the results, as everywhere. But what a tool writes counts as the word of \`@operator\`: agents take it as that of
  their user. Have a person approve each \`_write\` call, and where nobody looks, ask for \`?tools=read\`.
- **No tool answers what a harness asks its user** ([approvals](approvals.md)), whatever the scopes of the key: who calls it may be a script or a model.
- \`rouse mcp\` serves the tools of agents only.

`

const outro = `## Answers that come by themselves

Where the client of a model follows MCP tasks (the extension \`io.modelcontextprotocol/tasks\`, SEP-2663), the answer to \`send_task\` comes by itself, and
so does the next mail after \`wait_for_messages\`: the model neither waits nor asks again. Claude Code does so in its terminal, from 2.1.318 on, and
begins a turn when it is idle. Nothing has to be installed beside the entry of the server.

- **Each request says for itself** whether its client follows tasks, in \`_meta\` with the version 2026-07-28. Only then the tools answer with a task, and
  say in \`tools/list\` that the answer comes by itself. All other clients get the plain answer. An end that is there within a quarter of a second is
  answered plainly too.
- **The end** of the A2A task is the end of the MCP task: \`completed\`, \`failed\`, \`rejected\`, \`canceled\`, and a question (\`input-required\`,
  \`auth-required\`). The result is short: the state, the newest message, and what to do next. To a question the model answers with \`send_task\` and
  \`taskId\`, which is a new MCP task. A wait ends with the next \`immediate\` mail. Its result does not show the mail, which stays unread until the model
  reads it; \`timeoutSeconds\` means nothing there.
- **\`tasks/get\` is held** for up to 50 seconds and released by the end, so a client hears of it within a tenth of a second and asks once a minute. A held
  poll counts against \`blockingCalls\`; beyond that it is answered at once, with \`pollIntervalMs\` 10000 instead of 1000.
- **\`tasks/cancel\`** ends the following, as often as it comes, and nothing else: \`move_task\` with \`canceled\` cancels the work. \`tasks/update\` is
  acknowledged: nothing is asked of a person there.
- **The id** has 192 random bits and is for the key that began the task, or a newer key of the same agent. Every other id gets -32602 with the same
  words. A task that nobody has polled for two weeks expires.
- **One end is one turn.** The first answer with an end counts as the delivery of a wake, and asks [the door for turns](recovery.md#the-rules) before:
  while the agent is parked, or at a cap of turns, the task stays \`working\`. For what is polled for at that moment, no subscription of the same agent
  with a webhook or a bridge wakes it too. That the turn began is proved by an act of the model or by a hook alone: a client that was killed after it
  has read the answer begins none by itself. Its next prompt brings the end, and mail stays unread in the inbox.
- **\`rouse mcp\` outlives a restart of the gateway** and holds its polls meanwhile. Claude Code gives up a server over HTTP that is gone for more than 17
  seconds, and follows nothing of it from then on. It also forgets the tasks of a server whose entry has changed, also when only a key in it has. So
  prefer the entry of \`rouse install claude\`: it has a profile, and no key.

\`rouse who\` and \`rouse doctor\` show what is followed.

## Waiting for mail

\`wait_for_messages\` is for a harness that nothing else wakes: no hook, webhook or stream. It repeats one call of the gateway
(\`GET /v1/inbox?waitSeconds=\`) until mail comes, and reports progress meanwhile, so that clients keep waiting. \`immediate\` mail ends the wait
within milliseconds; \`next_turn\` mail does not end the wait, and comes with its result; \`silent\` mail does neither. If piggyback on the surface of
the session waits for a wake first (\`claude_code\`, \`codex\`), the tool waits for it too.

A long \`timeoutSeconds\` (1500) costs the fewest turns. A client that gives up after a minute needs the default of 50.

## Resources

| uri | what |
| --- | --- |
| \`rouse://inbox/{handle}\` | unread mail: the agent's own, or of one that has granted \`CAN_READ_INBOX_OF\` |
| \`rouse://thread/{id}\` | a conversation |
| \`rouse://task/{id}\` | a task with its messages and artifacts |
| \`rouse://agent/{handle}\` | the A2A agent card of an agent; \`web:@donna\` of another project |

They are JSON, up to 1 MiB. \`resources/list\` has the agent's own inbox, the newest 50 tasks and the first 50 agents. A client may subscribe to each
of them, and is notified when an event changes it. Reading a resource delivers no mail. No harness that was tested starts a turn for such a
notification: a [wake subscription](api.md#the-wake) or a hook does.

## Prompts

| prompt | arguments | what |
| --- | --- | --- |
| \`answer-my-mail\` | | goes through unread mail and open tasks, and deals with them |
| \`hand-over\` | \`task\`, \`to\` | hands a task or other claimed work to another agent, with what it needs to know |
`

/** Returns docs/mcp.md as the code defines it. */
export function renderPage(): string {
  const rows = tools.map((one) => [`[\`${one.name}\`](#${one.name})`, hintOf(one), one.title])
  const sections = tools.map(section)
  return [
    intro,
    '## The tools',
    '',
    table([['tool', '', 'what'], ...rows]),
    '',
    ...sections,
    operatorPart(),
    outro,
  ].join('\n')
}

function operatorPart(): string {
  const rows = operatorTools.map((one) => [
    `[\`${one.name}\`](#${one.name})`,
    hintOf(one),
    one.scopes.join(', '),
    one.title,
  ])
  return [ofOperators + table([['tool', '', 'scopes', 'what'], ...rows]), '', ...operatorTools.map(section)].join('\n')
}

function hintOf({ annotations }: AnyTool): string {
  if (annotations.readOnlyHint) return 'reads'
  if (annotations.openWorldHint) return 'reaches out'
  return annotations.destructiveHint ? 'removes' : 'acts'
}

function section({ name, description, input }: AnyTool): string {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input' }) as JsonObject & {
    properties?: Record<string, JsonObject>
    required?: string[]
  }
  const rows = Object.entries(properties).map(([argument, schema]) => [
    `\`${argument}\`${required.includes(argument) ? ', required' : ''}`,
    typeOf(schema),
    String(schema.description ?? '').replaceAll('|', '\\|'),
  ])
  const args = rows.length === 0 ? 'It has no arguments.' : table([['argument', 'type', 'what'], ...rows])
  return `### ${name}\n\n${description}\n\n${args}\n`
}

function typeOf(schema: JsonObject): string {
  if (Array.isArray(schema.enum)) return schema.enum.join(', ')
  if (schema.type === 'array') return `list of ${typeOf((schema.items ?? {}) as JsonObject)}`
  return typeof schema.type === 'string' ? schema.type : 'any'
}

function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n')
}
