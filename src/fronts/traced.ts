import type { Core } from '../log/core.ts'

type Appends = Pick<Core, 'append'>

/** What a feature works with, for a call that is part of a trace: the events of the call say so to the engine. */
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
