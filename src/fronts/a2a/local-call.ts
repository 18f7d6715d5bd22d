import { SendMessageRequest, SendMessageResponse } from '@a2a-js/sdk'
import type { Slot } from '../../admission/slots.ts'
import { Problem, toProblem } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { asCall } from '../../storage/as-call.ts'
import { recordCall } from '../access/a2a-access.ts'
import { a2aOperation } from '../access/a2a-operations.ts'
import { authorise } from '../access/authorise.ts'
import type { FrontContext } from '../front-context.ts'
import { A2aCall } from './call.ts'
import { type AgentAddress, findCalledAgent, requireMayCall } from './called-agent.ts'
import { sendFlaw } from './message-parts.ts'
import { answerSend } from './send-from-call.ts'

/** A message to an agent from a caller that does not come over an A2A binding. */
interface LocalSend {
  readonly caller: Caller
  /** The client's IP address. */
  readonly address: string
  readonly to: AgentAddress
  /** A SendMessageRequest in JSON (A2A v1.0). */
  readonly body: JsonObject
  readonly idempotencyKey?: string | undefined
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
  readonly slot: Slot
}

/**
 * Sends a message as the operation SendMessage of A2A v1.0 does, with the same checks and records. Returns the SendMessageResponse
 * in JSON. Errors: problems.
 */
export async function sendLocally(context: FrontContext, send: LocalSend): Promise<JsonObject> {
  const { to, body, signal, ...from } = send
  const agent = await findCalledAgent(context.db, to, async () => from.caller)
  const caller = await requireMayCall(context.db, from.caller, agent)
  const call = new LocalCall({ ...from, caller, agent }, context, signal)
  try {
    authorise(call.operation, caller)
    const answer = await asCall(context.db, () => answerSend(context, readRequest(body), call, '1.0'))
    await recordCall(context, call, 'ok', agent.handle)
    const payload =
      'messageId' in answer ? { $case: 'message' as const, value: answer } : { $case: 'task' as const, value: answer }
    return SendMessageResponse.toJSON({ payload }) as JsonObject
  } catch (error) {
    await recordCall(context, call, toProblem(error).code, agent.handle)
    throw error
  }
}

/** Errors: `invalid-request` for what ProtoJSON's reader would refuse, or change silently. */
function readRequest(body: JsonObject): SendMessageRequest {
  const flaw = sendFlaw(body)
  if (flaw) throw new Problem('invalid-request', flaw)
  return SendMessageRequest.fromJSON(body)
}

/** An A2A call from within the gateway. It has no stream. */
class LocalCall extends A2aCall {
  readonly #gone: AbortSignal

  constructor(
    from: Pick<LocalSend, 'caller' | 'address' | 'idempotencyKey' | 'slot'> & { readonly agent: Agent },
    context: FrontContext,
    gone: AbortSignal,
  ) {
    super({ ...from, operation: a2aOperation('SendMessage'), front: 'mcp' }, context)
    this.#gone = gone
  }

  override beginStream(): void {
    throw new Error('A call from within the gateway has no stream.')
  }

  override finishStream(): void {}

  override async taken(): Promise<void> {}

  protected override untilClosed(others: AbortSignal[]): AbortSignal {
    this.slot.release()
    return AbortSignal.any([this.#gone, ...others])
  }
}
