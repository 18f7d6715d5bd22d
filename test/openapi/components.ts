import { problems } from '../../src/errors.ts'
import type { Schema } from './type-schemas.ts'

const text = { type: 'string' } as const

function header(name: string, description: string, schema: Schema = text): object {
  return { name, in: 'header', description, schema }
}

/** The parameters that requests may have. */
export const parameters: Readonly<Record<string, object>> = {
  'Rouse-Project': header('Rouse-Project', 'The project in which an operator acts. Default: `default`.'),
  'Rouse-Session': header('Rouse-Session', 'The session of the caller. Where it has ended, the call is refused.'),
  'Rouse-Pending-Signals': header('Rouse-Pending-Signals', 'Leave it out to get the mail that waits with the answer.', {
    type: 'string',
    enum: ['none', 'count'],
  }),
  'Idempotency-Key': header(
    'Idempotency-Key',
    'A new one for each request: a repeat within 24 hours gets the first answer.',
    { type: 'string', minLength: 1, maxLength: 500 },
  ),
  'If-Match': header(
    'If-Match',
    'The ETag of the task that the move is based on: it fails if the task has moved on. `expectedVersion` in the body says the same.',
  ),
  after: {
    name: 'after',
    in: 'query',
    description: 'Of the address of the next page, which the document names. It takes a key.',
    schema: text,
  },
  challenge: {
    name: 'challenge',
    in: 'query',
    required: true,
    description: 'Random base64url characters.',
    schema: { type: 'string', pattern: String.raw`^[\w-]{22,64}$` },
  },
}

/** The headers that a wake has beside its body. Source: S1-33, D2. */
export const wakeParameters: Readonly<Record<string, object>> = {
  'X-Neo-Wake-Signature': header(
    'X-Neo-Wake-Signature',
    'HMAC-SHA256 over the bytes of the body, in hexadecimal digits.',
  ),
  'X-Neo-Wake-Event-Id': header('X-Neo-Wake-Event-Id', 'The `eventId`.'),
  'X-Neo-Wake-Subscription-Id': header('X-Neo-Wake-Subscription-Id', 'The `subscriptionId`.'),
  'X-Neo-Wake-Schema-Version': header('X-Neo-Wake-Schema-Version', 'The `schemaVersion`.'),
  'webhook-id': header('webhook-id', 'The `eventId` (Standard Webhooks).'),
  'webhook-timestamp': header('webhook-timestamp', 'Seconds since the epoch (Standard Webhooks).'),
  traceparent: header('traceparent', 'The trace of the call that caused it (W3C Trace Context). Not in every wake.'),
  'webhook-signature': header('webhook-signature', 'One signature for each key that is in use (Standard Webhooks).'),
}

/** The headers that answers may have. */
export const headers: Readonly<Record<string, object>> = {
  ETag: { description: 'The version. Of a task: for `If-Match` only.', schema: text },
  Location: { description: 'Where the new resource is.', schema: text },
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } },
  'Idempotency-Replayed': { description: 'This is the first answer, to a repeat.', schema: { const: 'true' } },
  'Rouse-Pending-Signals': {
    description: 'With `Rouse-Pending-Signals: count`: how many messages wait, 100 at most.',
    schema: { type: 'integer' },
  },
}

const codes = Object.entries(problems)

/** RFC 9457, with extension members. */
export const problemSchema: Schema = {
  description: `A refusal. Its code is the contract:\n\n${codes.map(([code, { status, title }]) => `- \`${code}\` (${status}): ${title}.`).join('\n')}`,
  type: 'object',
  properties: {
    type: { type: 'string', description: '`urn:rouse:problem:` and the code.' },
    title: text,
    status: { type: 'integer' },
    detail: { type: 'string', description: 'The field and the remedy, for people.' },
    instance: { type: 'string', description: 'The path of the request.' },
    code: { type: 'string', enum: codes.map(([code]) => code) },
    field: { type: 'string', description: 'The field that is refused, as a path: `filters.priority`.' },
    remedy: {
      type: 'string',
      description:
        'The key of the remedy with which `detail` ends, for programs that say it in their own words: `activate`. The values of its sentence are members too: `subscriptionId`. More keys may come.',
    },
  },
  required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
  // Extension members: `current` of a version conflict, `retryAfterSeconds`, …
  additionalProperties: true,
}

const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
const retry = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }

export const responses: Readonly<Record<string, object>> = {
  Refused: { description: 'Refused.', content },
  LimitReached: { description: 'A limit is reached.', headers: retry, content },
  NotNow: { description: 'The gateway cannot serve now.', headers: retry, content },
}
