import type { Io } from '../../client/io.ts'
import type { PresentAgentView, SessionView } from '../../client/route-types.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import type { PendingSignal } from '../../words/mail.ts'
import { fields, table } from './table.ts'
import { when, whenLong } from './when.ts'

export function sessionTable(io: Io, sessions: readonly SessionView[]): string {
  return table(
    io,
    ['SESSION', 'AGENT', 'SURFACE', 'STATUS', 'DOING', 'LAST SEEN', 'CAN'],
    sessions.map(({ sessionId, agent, surface, status, reason, presence, lastSeenAt, capabilities }) => [
      sessionId,
      agent,
      surface,
      reason ? `${status} (${reason})` : status,
      presence.state,
      when(io, lastSeenAt),
      capabilities.join(','),
    ]),
    'No sessions. Start one with: rouse session start --surface <name>',
    ['CAN', 'SURFACE'],
  )
}

/** The mail that a session gets when it starts: all of its text, because this is how it is delivered. */
export function drainedText(io: Io, signals: readonly PendingSignal[]): string {
  if (signals.length === 0) return ''
  const count = signals.length === 1 ? '1 message' : `${signals.length} messages`
  return `\n${count} waited:\n${signals.map((signal) => `\n${signalText(io, signal)}`).join('')}`
}

function signalText(io: Io, signal: PendingSignal): string {
  const said = [signal.body, Object.keys(signal.payload).length > 0 ? JSON.stringify(signal.payload) : undefined]
  const text = said.filter(Boolean).join('\n')
  return (
    `${paint(io, 'bold', plain(signal.subject))}\n` +
    fields({
      message: signal.signal_id,
      from: signal.from,
      type: signal.signal_type ?? signal.type,
      ref: signal.ref,
      task: signal.task_id,
      sent: whenLong(io, signal.created_at),
    }) +
    (text ? `\n${plain(text, 'lines')}\n` : '')
  )
}

/** An agent's session and what it is doing. */
export function presenceText(io: Io, identity: string, { presence, session }: Presence): string {
  const { state, source, activeTurnId, asOf } = presence
  return fields({
    agent: identity,
    session: session?.sessionId ?? 'none',
    surface: session?.surface,
    doing: state,
    turn: activeTurnId,
    source,
    'reported at': whenLong(io, asOf) || 'never',
  })
}

type Presence = Pick<PresentAgentView, 'presence' | 'session'>
