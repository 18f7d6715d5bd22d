import { Problem } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'
import { sizeLimits } from '../../limits.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import {
  beginCall,
  callScope,
  endCall,
  freeCall,
  type Idempotency,
  idempotencyOf,
  keyOwner,
  stored,
} from '../../registry/idempotency.ts'
import { boxOf } from '../../security/secret.ts'
import { asCall } from '../../storage/as-call.ts'
import { isAct } from '../access/changes.ts'
import type { RestOperation } from '../access/operation.ts'
import type { FrontContext } from '../front-context.ts'
import { bearerKeyOf } from '../http/auth.ts'
import { idempotencyKey } from '../idempotency-key.ts'
import type { Reply } from './reply.ts'

type RepeatContext = Pick<FrontContext, 'db' | 'log' | 'repeats' | 'usage'>

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

/** Mail has repeats of its own. A code that signs in is made once for each request. */
const unkept: ReadonlySet<string> = new Set(['message.send', 'signInCode.make'])

/**
 * Carries out a call that changes something. With an `Idempotency-Key` a repeat within 24 hours gets the first answer instead. A call that
 * fails before it has stored anything leaves its key free. Errors: `idempotency-conflict`, `idempotency-begun`, and those of `act`.
 */
export async function runOnce(
  context: RepeatContext,
  call: RepeatableCall,
  reply: Reply,
  act: () => Promise<unknown>,
): Promise<unknown> {
  const key = isRepeatable(call.operation) ? idempotencyKey(call.header('idempotency-key')) : undefined
  if (key === undefined) return isAct(call.operation) ? asCall(context.db, act) : act()
  const { caller, operation, params, query, given, header } = call
  const callerId = keyOwner(caller)
  const said = [caller.projectId, operation.route, params, query, given, header('if-match')]
  const bearer = bearerKeyOf(header('authorization'))
  const keyed = { caller, callerId, bearer, idempotency: idempotencyOf(caller, key, ...said) }
  return context.repeats.run(callerId, callScope, keyed.idempotency, async () => {
    const first = await beginCall(context.db, keyed)
    if (first !== undefined) return replay(keyed, first, reply)
    const view = await asCall(context.db, act, (tx) => endCall(tx, keyed, stored)).catch(async (error) => {
      // If the key stays in use, a repeat is told to look.
      await freeCall(context.db, keyed).catch(() => {})
      throw error
    })
    const { status, headers, target } = reply
    await keep(context, keyed, { status, headers, target, view })
    return view
  })
}

/** An answer that the audit does not record may be repeated as it is. */
function isRepeatable(operation: RestOperation): boolean {
  return isAct(operation) && !unkept.has(operation.name)
}

interface Keyed {
  readonly caller: Caller
  readonly callerId: string
  /** The API key or token of the call. undefined: it did not come over HTTP. */
  readonly bearer: string | undefined
  readonly idempotency: Idempotency
}

/** The answer may have a secret, such as a new key: only the API key that got it can open it. It counts as stored by its caller. */
async function keep({ db, log, usage }: RepeatContext, keyed: Keyed, answer: KeptAnswer): Promise<void> {
  const { caller, bearer } = keyed
  const text = JSON.stringify({ ...answer, view: withoutMail(answer.view) })
  const fits = Buffer.byteLength(text) <= sizeLimits.keptAnswer.max
  const kept = fits && bearer !== undefined ? boxOf(bearer).seal(text, placeOf(keyed)) : stored
  try {
    if (kept !== stored) usage.requireRoom(caller)
    await db.transaction(async (tx) => {
      await endCall(tx, keyed, kept)
      usage.add(tx, caller, kept.length)
    })
  } catch (error) {
    // The call itself is done. A repeat is told to look.
    log.warn({ err: error, callerId: keyed.callerId }, 'call.answer_unkept')
  }
}

function replay(keyed: Keyed, kept: string, reply: Reply): unknown {
  if (kept === '') throw begun(keyed, 'has begun and has no answer yet. It still runs, or its gateway ended meanwhile')
  if (kept === stored) {
    throw begun(
      keyed,
      'was carried out. It still runs, or has failed at its end, or its answer was too large to be kept',
    )
  }
  const box = keyed.bearer === undefined ? undefined : boxOf(keyed.bearer)
  if (!box?.knows(kept))
    throw begun(keyed, 'was carried out, and only the API key or token that made it opens its answer')
  const { status, headers, target, view } = JSON.parse(box.open(kept, placeOf(keyed))) as KeptAnswer
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
