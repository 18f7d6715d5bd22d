import { type Command, Option } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import type { PendingSignal } from '../../words/mail.ts'
import { ownIds } from '../ids/own-ids.ts'
import { collect, integer } from '../options/option-values.ts'
import { drainedText, sessionTable } from '../output/session-view.ts'
import { fields } from '../output/table.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface StartOptions {
  surface?: string
  capability?: string[]
  pid?: number
  startedAt?: string
}

interface ListOptions {
  status: 'live' | 'ended'
  limit?: number
  pageToken?: string
}

/** `rouse session …`: what a hook of a harness calls when it starts, works and ends. */
export function registerSession(program: Command, io: Io): void {
  const session = program.command('session').description("start, list and end the sessions of the key's agent")
  registerStart(session, io)
  registerList(session, io)
  registerBeat(session, io)
  registerEnd(session, io)
}

function registerStart(parent: Command, io: Io): void {
  clientCommand(parent, 'start', 'start a session for the agent of the key; prints the mail that waits for it', [
    'rouse session start --surface claude_code --pid $PPID',
    'rouse session start --capability has-telegram        # the surface is in ROUSE_AGENT_SURFACE',
  ])
    .option('--surface <name>', 'the harness: claude_code, codex, cursor, … (default: $ROUSE_AGENT_SURFACE)')
    .option('--capability <name>', 'what it can do, e.g. turn/start or has-telegram; repeatable', collect)
    .option('--pid <pid>', 'the process of the harness: the same process continues its session', integer(1))
    .option('--started-at <instant>', 'when that process started, e.g. 2026-04-26T10:00:00Z')
    .action(async (options: StartOptions, command: Command) => {
      const { capability: capabilities, pid, startedAt } = options
      const surface = surfaceOf(options.surface, io.env)
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('POST /v1/sessions', { body: { surface, capabilities, pid, startedAt } })
      // The route's type leaves the form of the mail to the mailbox.
      const signals = answer.pendingSignals as readonly PendingSignal[]
      print.result(answer, () => fields({ session: answer.sessionId, surface }) + drainedText(io, signals))
    })
}

function registerList(parent: Command, io: Io): void {
  clientCommand(parent, 'list', 'list the live sessions, or those that ended', [
    'rouse session list',
    'rouse session list --status ended --limit 10',
  ])
    .addOption(new Option('--status <status>', 'live or ended').choices(['live', 'ended']).default('live'))
    .option('--limit <n>', 'the largest number of rows (default: 50)', integer(1, 200))
    .option('--page-token <token>', 'the next page: the token at the end of the previous page')
    .action(async ({ status, limit, pageToken }: ListOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('GET /v1/sessions', { query: { status, limit, pageToken } })
      print.result(answer, () => {
        const more = answer.nextPageToken ? `More with --page-token ${plain(answer.nextPageToken)}\n` : ''
        return sessionTable(io, answer.sessions) + more
      })
    })
}

function registerBeat(parent: Command, io: Io): void {
  clientCommand(parent, 'beat [session]', 'give a sign of life, so that the session does not time out', [
    'rouse session beat',
  ]).action(async (given: string | undefined, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const id = given === undefined ? await ownSession(gateway) : await ownIds(gateway).session(given)
    const session = await gateway.call('PUT /v1/sessions/:id', { params: { id }, body: {} })
    print.result(session, () => `${plain(session.sessionId)} is ${session.status}.\n`)
  })
}

function registerEnd(parent: Command, io: Io): void {
  clientCommand(parent, 'end [session]', 'end a session', ['rouse session end']).action(
    async (given: string | undefined, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const id = given === undefined ? await ownSession(gateway) : await ownIds(gateway).session(given)
      const session = await gateway.call('DELETE /v1/sessions/:id', { params: { id } })
      print.result(session, () => `${plain(session.sessionId)} has ended.\n`)
    },
  )
}

/** The id of the live session of the key's agent: an agent has one at most. Errors: there is none; the key sees several. */
async function ownSession(gateway: GatewayClient): Promise<string> {
  const { sessions } = await gateway.call('GET /v1/sessions', { query: { status: 'live' } })
  const [only, ...others] = sessions
  if (only === undefined) throw new UsageError('There is no live session. Start one: rouse session start')
  if (others.length > 0) throw new UsageError('The key sees several sessions: name one. rouse session list lists them.')
  return only.sessionId
}

/** Returns the surface: from the option, otherwise from the environment. Source: S2-16. */
function surfaceOf(option: string | undefined, env: Io['env']): string {
  const surface = option ?? env.ROUSE_AGENT_SURFACE?.trim()
  if (surface) return surface
  throw new UsageError(
    'Name the harness with --surface or ROUSE_AGENT_SURFACE: claude_code, claude_desktop, codex, cursor, or a name of your own.',
  )
}
