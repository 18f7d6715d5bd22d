import type { A2AError } from '@a2a-js/sdk/errors'
import type { ServerCallContext } from '@a2a-js/sdk/server'
import { toProblem } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { recordCall } from '../access/a2a-access.ts'
import type { A2aOperationName } from '../access/a2a-operations.ts'
import type { AuditContext } from '../access/rest-access.ts'
import { type A2aCall, callOf } from './call.ts'

/** What runs an operation: the audit, and how a binding tells of a failure. */
export interface OperationTools extends Pick<AuditContext, 'audit'> {
  readonly log: Logger
  readonly toError: (error: unknown, log: Logger, operation: string) => A2AError
}

/** An operation as it was asked for. */
export interface AskedOperation {
  readonly name: A2aOperationName
  readonly context: ServerCallContext
  /** The id of the task that it is about; `''`: it is about the agent. */
  readonly target: string
}

/** Runs an operation that the door has let in, and has the audit know how it ended before it is answered. */
export async function runOperation<T>(
  tools: OperationTools,
  asked: AskedOperation,
  act: (call: A2aCall) => Promise<T>,
): Promise<T> {
  const call = admittedCall(asked)
  try {
    const result = await act(call)
    await recordCall(tools, call, 'ok', asked.target || call.agent.handle)
    return result
  } catch (error) {
    throw await refused(tools, call, asked, error)
  }
}

/**
 * The same for a stream, which waits for its reader: the SDK's transports write one event after the other, whether or not it is
 * taken. One that sends is recorded when it has sent.
 */
export async function* streamOperation<T>(
  tools: OperationTools,
  asked: AskedOperation,
  events: (call: A2aCall) => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  const call = admittedCall(asked)
  try {
    using _held = call.hold('streams')
    call.beginStream()
    for await (const event of events(call)) {
      if (call.signal.aborted) break
      yield event
      call.noteLoaded()
      await call.taken()
    }
    call.finishStream()
  } catch (error) {
    throw await refused(tools, call, asked, error)
  } finally {
    call.noteLoaded()
  }
}

async function refused(
  tools: OperationTools,
  call: A2aCall,
  { target }: AskedOperation,
  error: unknown,
): Promise<A2AError> {
  call.failure = error
  await recordCall(tools, call, toProblem(error).code, target || call.agent.handle)
  return tools.toError(error, tools.log, call.operation.name)
}

/** The call of an operation. The door has looked its row up by what the request names: it must be this one. */
function admittedCall({ name, context }: AskedOperation): A2aCall {
  const call = callOf(context)
  if (call.operation.name === name) return call
  throw new Error(`A call was let in as ${call.operation.name} and came as ${name}.`)
}
