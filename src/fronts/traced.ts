import { toProblem } from '../errors.ts'
import type { Core } from '../log/core.ts'
import type { OpenSpan, SpanFacts, Tracing } from '../tracing/tracing.ts'

type Appends = Pick<Core, 'append'>

/** Returns the parts of a feature for a call that is part of a trace: the events of the call pass it to the engine. */
export function traced<Context extends Appends>(context: Context, traceparent: string | undefined): Context {
  if (traceparent === undefined) return context
  const append: Core['append'] = (tx, projectId, events) => {
    const marked = events.map(({ data, ...event }) => {
      return { ...event, data: { ...data, routing: { ...(data.routing as object | undefined), traceparent } } }
    })
    return context.append(tx, projectId, marked)
  }
  return { ...context, append }
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
