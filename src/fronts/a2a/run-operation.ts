import type { A2AError } from '@a2a-js/sdk/errors'
import type { ServerCallContext } from '@a2a-js/sdk/server'
import { toProblem } from '../../errors.ts'
import type { Logger } from '../../logger/logger.ts'
import { asCall } from '../../storage/as-call.ts'
import { recordCall } from '../access/a2a-access.ts'
import type { A2aOperationName } from '../access/a2a-operations.ts'
import type { FrontContext } from '../front-context.ts'
import { noteRefusal } from '../note-refusal.ts'
import { type A2aCall, callOf } from './call.ts'

/** The audit, the metrics, and how a binding reports a failure. */
export interface OperationTools extends Pick<FrontContext, 'audit' | 'db' | 'metrics'> {
  readonly log: Logger
  readonly toError: (error: unknown, log: Logger, operation: string) => A2AError
}

/** An operation that a client calls. */
interface CalledOperation {
  readonly name: A2aOperationName
  readonly context: ServerCallContext
  /** The id of the task that it is about, as the request has it: of any type in v0.3. `''`: it is about the agent. */
  readonly target: unknown
}

/** Runs an authorised operation. The audit records its outcome before the call is answered. */
export async function runOperation<T>(
  tools: OperationTools,
  called: CalledOperation,
  act: (call: A2aCall) => Promise<T>,
): Promise<T> {
  const call = authorisedCall(called)
  using _held = call.slot.hold()
  try {
    const changed = call.beginChange()
    const result = await asCall(tools.db, () => act(call))
    changed()
    await recordCall(tools, call, 'ok', targetOf(called, call))
    return result
  } catch (error) {
    throw await refused(tools, call, called, error)
  }
}

/**
 * The same for a stream. It waits for its reader after each event: the SDK's transports write without looking at back-pressure.
 * The audit records a stream that sends a message when the message is stored.
 */
export async function* streamOperation<T>(
  tools: OperationTools,
  called: CalledOperation,
  events: (call: A2aCall) => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  const call = authorisedCall(called)
  using _held = call.slot.hold()
  try {
    using _openCall = call.open('streams')
    call.beginStream()
    for await (const event of events(call)) {
      if (call.signal.aborted) break
      yield event
      call.noteLoaded()
      await call.taken()
    }
    call.finishStream()
  } catch (error) {
    throw await refused(tools, call, called, error)
  } finally {
    call.noteLoaded()
  }
}

async function refused(
  tools: OperationTools,
  call: A2aCall,
  called: CalledOperation,
  error: unknown,
): Promise<A2AError> {
  call.failure = error
  noteRefusal(tools.metrics, error)
  call.problem = toProblem(error).code
  await recordCall(tools, call, call.problem, targetOf(called, call))
  const failure = tools.toError(error, tools.log, call.operation.name)
  call.beforeFailure(failure)
  return failure
}

function targetOf({ target }: CalledOperation, { agent }: A2aCall): string {
  return typeof target === 'string' && target !== '' ? target : agent.handle
}

/** The call of an operation. It was authorised by what the request names, which must be the operation that the SDK calls. */
function authorisedCall({ name, context }: CalledOperation): A2aCall {
  const call = callOf(context)
  if (call.operation.name === name) return call
  throw new Error(`A call was authorised as ${call.operation.name} and runs as ${name}.`)
}
