import { toProblem } from '../errors.ts'
import type { Core } from '../log/core.ts'
import type { NewEvent } from '../log/event.ts'
import type { OpenSpan, SpanFacts, Tracing } from '../tracing/tracing.ts'
import { operatorIdentity } from '../words/callers.ts'

type Appends = Pick<Core, 'append'>

/** The facts about a call that its events carry. */
interface Marks {
  /** The trace that it is part of: the events pass it to the engine. */
  readonly traceparent?: string | undefined
  /** The name of the operator whose call it is. */
  readonly person?: string | undefined
}

/** Returns the parts of a feature for a call: its events carry the trace that it is part of, and those of an operator the name of the person. */
export function marked<Context extends Appends>(context: Context, { traceparent, person }: Marks): Context {
  if (traceparent === undefined && person === undefined) return context
  const mark = ({ data, ...event }: NewEvent): NewEvent => {
    const named = person !== undefined && event.actor === operatorIdentity ? { person } : {}
    const routing = traceparent && { routing: { ...(data.routing as object | undefined), traceparent } }
    return { ...event, data: { ...data, ...named, ...routing } }
  }
  return { ...context, append: (tx, projectId, events) => context.append(tx, projectId, events.map(mark)) }
}

/** Runs a call as a span of its trace, where spans are written. `act` gets the `traceparent` for what follows from the call. */
export async function inSpan<Result>(
  tracing: Tracing | undefined,
  facts: Omit<SpanFacts, 'kind'>,
  act: (traceparent: string | undefined, span: OpenSpan | undefined) => Promise<Result>,
): Promise<Result> {
  const span = tracing?.begin({ kind: 'server', ...facts })
  if (!span) return act(facts.parent, undefined)
  try {
    const result = await act(span.traceparent, span)
    span.end()
    return result
  } catch (error) {
    span.end(toProblem(error).code)
    throw error
  }
}
