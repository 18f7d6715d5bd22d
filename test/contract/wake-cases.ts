import { newUlid } from '../../src/lib/ids.ts'
import type { LogEvent } from '../../src/log/event.ts'
import { DigestBuilder } from '../../src/wakes/content/digest.ts'
import { digestEmission, type Emission, singleEmission, wakeBody } from '../../src/wakes/content/emission.ts'
import { signHeaders } from '../../src/words/signature.ts'
import { type Files, type FixtureCase, pretty } from './fixture.ts'
import {
  agentIdentity,
  emittedAt,
  messageAcked,
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
  wake('task-created', 'A new task is a change from no state at all: `previousState` is null.', () =>
    single(stateChanged(null, 'submitted')),
  ),
  wake('task-state-changed', 'A task moves on. States are spelled in capitals here, in lower case over REST.', () =>
    single(stateChanged('submitted', 'input-required'), 12340),
  ),
  wake('permission-granted', 'Another agent allows this one something.', () => single(permissionGranted())),
  wake('message-status-changed', 'How far a recipient has come with mail of this agent.', () => single(messageAcked())),
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
  wake(
    'test',
    'What `POST /v1/wake-subscriptions/{id}/test` sends. It repeats the watermark, so that it moves none.',
    () => made({ eventType: 'wake/test', payload: { requestedBy: '@donna' }, logId: 12345, prevLogId: 12345 }),
  ),
]

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

export function single(event: LogEvent, prevLogId: number | null = null): Emission {
  return singleEmission({ ...subscription, trigger: event.trigger! }, event, prevLogId, emittedAt)
}

function digest(events: readonly LogEvent[]): Emission {
  const builder = new DigestBuilder()
  for (const event of events) builder.add(event)
  return digestEmission({ subscription, identity: agentIdentity }, builder, null, emittedAt)
}

/** An emission that covers no event of the log, under an id that is random otherwise. */
function made(fields: Pick<Emission, 'eventType' | 'payload' | 'logId' | 'prevLogId'>): Emission {
  const eventId = `${newUlid(emittedAt).slice(0, 10)}0123456789ABCDEF`
  return { ...fields, eventId, fromLogId: fields.logId, eventCount: 0, emittedAt, firstAt: emittedAt, messageIds: [] }
}
