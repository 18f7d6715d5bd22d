import { createHash } from 'node:crypto'
import { Problem } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'
import { sizeLimits } from '../../limits.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { beginCall, callScope, endCall, type Idempotency, keyOwner } from '../../registry/idempotency.ts'
import type { SecretBox } from '../../security/secret.ts'
import { isAct } from '../access/changes.ts'
import type { RestOperation } from '../access/operation.ts'
import type { FrontContext } from '../front-context.ts'
import { idempotencyKey } from '../idempotency-key.ts'
import type { Reply } from './reply.ts'

type RepeatContext = Pick<FrontContext, 'db' | 'log' | 'repeats' | 'secrets'>

/** A call, as a repeat of it would be made. */
interface RepeatableCall {
  readonly caller: Caller
  readonly operation: RestOperation
  readonly params: object
  readonly query: unknown
  readonly given: unknown
  readonly header: (name: string) => string | undefined
}

/** An answer without the mail that it carried. */
interface KeptAnswer extends Pick<Reply, 'status' | 'headers' | 'target'> {
  readonly view: unknown
}

/** In the place of an answer that is not kept. */
const tooLarge = 'too-large'

/**
 * Carries out a call that changes something. With an `Idempotency-Key` a repeat within 24 hours gets the first answer instead. A call that
 * was refused leaves its key free. Errors: `idempotency-conflict`, `idempotency-begun`, and those of `act`.
 */
export async function runOnce(
  context: RepeatContext,
  call: RepeatableCall,
  reply: Reply,
  act: () => Promise<unknown>,
): Promise<unknown> {
  const key = isRepeatable(call.operation) ? idempotencyKey(call.header('idempotency-key')) : undefined
  if (key === undefined) return act()
  const callerId = keyOwner(call.caller)
  const keyed = { callerId, idempotency: { key, fingerprint: fingerprintOf(call) } }
  return context.repeats.run(callerId, callScope, keyed.idempotency, async () => {
    const first = await beginCall(context.db, keyed)
    if (first !== undefined) return replay(context.secrets, keyed, first, reply)
    const view = await act().catch(async (error) => {
      // If the key stays in use, a repeat is told to look.
      if (hasChangedNothing(error)) await endCall(context.db, keyed, undefined).catch(() => {})
      throw error
    })
    const { status, headers, target } = reply
    await keep(context, keyed, { status, headers, target, view })
    return view
  })
}

/** Mail has keys of its own. What the audit does not record may be repeated as it is. */
function isRepeatable(operation: RestOperation): boolean {
  return isAct(operation) && operation.name !== 'message.send'
}

function fingerprintOf({ caller, operation, params, query, given, header }: RepeatableCall): string {
  const said = [caller.projectId, operation.route, params, query, given, header('if-match')]
  return createHash('sha256').update(JSON.stringify(said)).digest('hex')
}

function hasChangedNothing(error: unknown): boolean {
  return error instanceof Problem && error.code !== 'internal' && error.extra.uncertain !== true
}

interface Keyed {
  readonly callerId: string
  readonly idempotency: Idempotency
}

/** The answer may have a secret, such as a new key: it is sealed. */
async function keep({ db, log, secrets }: RepeatContext, keyed: Keyed, answer: KeptAnswer): Promise<void> {
  const text = JSON.stringify({ ...answer, view: withoutMail(answer.view) })
  const fits = Buffer.byteLength(text) <= sizeLimits.keptAnswer.max
  try {
    await endCall(db, keyed, fits ? secrets.seal(text, placeOf(keyed)) : tooLarge)
  } catch (error) {
    // The call itself is done. A repeat is told to look.
    log.warn({ err: error, callerId: keyed.callerId }, 'call.answer_unkept')
  }
}

function replay(secrets: SecretBox, keyed: Keyed, kept: string, reply: Reply): unknown {
  if (kept === '') throw begun(keyed, 'has begun and has no answer yet. It still runs, or its gateway ended meanwhile')
  if (kept === tooLarge) throw begun(keyed, 'was carried out, and its answer was too large to be kept')
  if (!secrets.knows(kept)) throw begun(keyed, 'was carried out, and its answer can no longer be decrypted')
  const { status, headers, target, view } = JSON.parse(secrets.open(kept, placeOf(keyed))) as KeptAnswer
  reply.status = status
  reply.target = target
  Object.assign(reply.headers, headers, { 'Idempotency-Replayed': 'true' })
  return view
}

function begun({ idempotency: { key } }: Keyed, what: string): Problem {
  return new Problem('idempotency-begun', {
    field: 'Idempotency-Key',
    detail: `Idempotency-Key: the request with "${key}" ${what}. Look what it has changed; use a new key for a new request.`,
  })
}

/** Mail is handed out once. If an answer was lost, it waits again. */
function withoutMail(view: unknown): unknown {
  return isJsonObject(view) && 'pendingSignals' in view ? { ...view, pendingSignals: [] } : view
}

function placeOf({ callerId, idempotency: { key } }: Keyed): string {
  return `answer:${callerId}:${key}`
}
