import { newUlid } from '../../src/lib/ids.ts'
import type { LogEvent } from '../../src/log/event.ts'
import type { WakeSubscription } from '../../src/registry/subscriptions/subscription.ts'
import { DigestBuilder } from '../../src/wakes/content/digest.ts'
import { digestEmission, type Emission, singleEmission, wakeBody } from '../../src/wakes/content/emission.ts'
import { signHeaders } from '../../src/words/signature.ts'
import { type Files, type FixtureCase, pretty } from './fixture.ts'
import {
  agentIdentity,
  emittedAt,
  messageMoved,
  messageSent,
  nowSeconds,
  permissionGranted,
  signal,
  signingKey,
  stateChanged,
  subscription,
  subscriptionId,
  wakeReported,
} from './wake-inputs.ts'

export const wakeCases: readonly FixtureCase[] = [
  wake('sent-to-me', 'A message for the agent. It points at the mail; the mail itself is not in it.', () =>
    single(messageSent()),
  ),
  wake(
    'sent-to-me-without-subject',
    'The same for a subscription of a key that may not read: ids and counts only.',
    () => single(messageSent(), { ...subscription, target: { ...subscription.target, withoutSubjects: true } }),
  ),
  wake('task-created', 'A new task is a change from no state at all: `previousState` is null.', () =>
    single(stateChanged(null, 'submitted')),
  ),
  wake('task-state-changed', 'A task moves on. States are spelled in capitals here, in lower case over REST.', () =>
    single(stateChanged('submitted', 'input-required'), subscription, 12340),
  ),
  wake('permission-granted', 'Another agent allows this one something.', () => single(permissionGranted())),
  wake('message-status-changed', 'How far a recipient has come with mail of this agent.', () =>
    single(messageMoved('acked')),
  ),
  wake('message-seen', 'A recipient has read mail of this agent.', () => single(messageMoved('seen'))),
  wake('message-resolved', 'A recipient has done what mail of this agent asked for.', () =>
    single(messageMoved('resolved')),
  ),
  wake('message-superseded', 'Mail of this agent no longer matters to its recipient.', () =>
    single(messageMoved('superseded')),
  ),
  wake(
    'receipt',
    'What the harness of a recipient has done with the wake about mail of this agent: here it is busy.',
    () => single(wakeReported()),
  ),
  wake('digest', 'Three transitions of one window in one wake; the receiver’s watermark becomes `logId`.', () =>
    digest([
      stateChanged(null, 'submitted', 12342, 30),
      stateChanged('submitted', 'working', 12344, 12),
      stateChanged('working', 'completed', 12346, 1.5),
    ]),
  ),
  wake('digest-of-messages', 'Two messages of one window; the references name them.', () =>
    digest([messageSent(12341, 30), messageSent(12345, 4, { subject: 'Never mind', priority: 'low' })]),
  ),
  wake('digest-of-permissions', 'Two permissions of one window.', () =>
    digest([permissionGranted(12347), permissionGranted(12348)]),
  ),
  wake('digest-of-statuses', 'Two reports of a recipient in one window. Its fields are in no other digest.', () =>
    digest([messageMoved('seen', 12348), messageMoved('resolved')]),
  ),
  wake('digest-of-receipts', 'What harnesses have done with two wakes. Its fields are in no other digest.', () =>
    digest([wakeReported(12349), wakeReported()]),
  ),
  wake('digest-of-signals', 'Two signals of the engine. `signal` says which the newest is.', () => {
    const rotated = { previousKeyUntil: '2026-04-27T10:00:00.000Z' }
    return digest([signal('subscription.key_rotated', rotated, 12349), signal('subscription.key_rotated', rotated)])
  }),
  wake('digest-waiting', 'What waited for an agent that subscribes, or starts: unread mail and open tasks.', () =>
    digest([stateChanged(null, 'submitted', 12342, 60), messageSent()], { reason: 'waiting' }),
  ),
  wake('digest-after-recovery', 'Everything after the last event that arrived, which `prevLogId` names.', () =>
    digest([messageSent(12342, 60), messageSent(12345, 30)], { prevLogId: 12340 }),
  ),
  wake(
    'digest-truncated',
    'More events than a digest refers to: it counts all of them and refers to the first hundred.',
    () => digest(Array.from({ length: 101 }, (_, at) => messageSent(12301 + at))),
  ),
  wake('subscription-degraded', 'The engine has given up on a receiver: who, and why.', () =>
    single(signal('subscription.degraded', { reason: 'gone' })),
  ),
  wake('subscription-recovered', 'A degraded subscription is sent for again; `reason` is why it was degraded.', () =>
    single(signal('subscription.recovered', { reason: 'gone' })),
  ),
  wake('event-failed', 'One event could not be delivered: a replay of `logId` sends it again.', () =>
    single(signal('wake.failed', { eventId: '01KQ45Q8M00123456789ABCDEF', logId: 12341, reason: 'http-413' })),
  ),
  wake('signing-key-rotated', 'A subscription has a new key. The old one signs too, until `previousKeyUntil`.', () =>
    single(signal('subscription.key_rotated', { previousKeyUntil: '2026-04-27T10:00:00.000Z' })),
  ),
  wake('heartbeat-pulse', 'A nudge: no mail, but why, and the one next action.', () =>
    single(signal('heartbeat.pulse', pulse)),
  ),
  wake('digest-with-heartbeat', 'A nudge and a message of one window.', () =>
    digest([signal('heartbeat.pulse', pulse), messageSent(12351)]),
  ),
  wake('recovery', 'The harness of an agent is to be started anew.', () =>
    single(signal('recovery.ordered', { change: 'ordered', mode: 'restart', epoch: 3, reason: 'session_gone', since })),
  ),
  wake('gate-changed', 'The gate of an agent has tripped: recovery does nothing for it until a person opens it.', () =>
    single(
      signal('gate.changed', {
        nudges: 'tripped',
        restarts: 'tripped',
        reason: 'too many acts within an hour',
        changedBy: '@gateway',
        since,
      }),
    ),
  ),
  wake('need-changed', 'A subscription fails: a person has to look.', () =>
    single(
      signal('need.raised', {
        change: 'raised',
        need: subscriptionId,
        kind: 'failing',
        since,
        subject: '1 event has failed (http-503). After 3 nothing more is sent.',
      }),
    ),
  ),
  wake(
    'test',
    'What `POST /v1/wake-subscriptions/{id}/test` sends. It repeats the watermark, so that it moves none.',
    () => made({ eventType: 'wake/test', payload: { requestedBy: '@donna' }, logId: 12345, prevLogId: 12345 }),
  ),
]

const since = '2026-04-26T09:30:00.000Z'
const pulse = {
  mode: 'nudge',
  reason: 'unread_mail_and_open_task',
  unread: 2,
  openTasks: 1,
  oldestAt: since,
  next: 'Read your inbox.',
  contextTokens: 48_000,
}

function wake(name: string, shows: string, emission: () => Emission): FixtureCase {
  return { folder: `wakes/${name}`, shows, render: () => signedWake(emission()) }
}

/** The files of a wake: what is sent, and the key that it is signed with. */
export function signedWake(emission: Emission, keys: readonly [string, ...string[]] = [signingKey]): Files {
  const body = JSON.stringify(wakeBody(emission, agentIdentity, subscriptionId))
  const { eventId } = emission
  const headers = signHeaders({ body, eventId, subscriptionId, timestampSeconds: nowSeconds, keys })
  return { 'body.json': body, 'headers.json': pretty(headers), 'secret.txt': keys[0] }
}

export function single(
  event: LogEvent,
  from: WakeSubscription = subscription,
  prevLogId: number | null = null,
): Emission {
  return singleEmission({ ...from, trigger: event.trigger! }, event, prevLogId, emittedAt)
}

interface Digest {
  readonly prevLogId?: number
  readonly reason?: 'waiting'
}

function digest(events: readonly LogEvent[], { prevLogId, reason }: Digest = {}): Emission {
  const builder = new DigestBuilder()
  for (const event of events) builder.add(event)
  return digestEmission({ subscription, identity: agentIdentity }, builder, prevLogId ?? null, emittedAt, reason)
}

/** An emission that covers no event of the log, under an id that is random otherwise. */
function made(fields: Pick<Emission, 'eventType' | 'payload' | 'logId' | 'prevLogId'>): Emission {
  const eventId = `${newUlid(emittedAt).slice(0, 10)}0123456789ABCDEF`
  return { ...fields, eventId, fromLogId: fields.logId, eventCount: 0, emittedAt, firstAt: emittedAt, messageIds: [] }
}
