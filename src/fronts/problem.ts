import type { ErrorRequestHandler, RequestHandler, Response } from 'express'
import { Problem, toProblem } from '../errors.ts'
import type { Logger } from '../logger.ts'

/** Writes a problem as RFC 9457 has it, with `code` and `field` as extension members. */
export function sendProblem(res: Response, problem: Problem, instance: string): void {
  if (problem.status === 401) res.setHeader('WWW-Authenticate', 'Bearer realm="rouse"')
  if (problem.status === 503) res.setHeader('Retry-After', '1')
  if (problem.status === 429) res.setHeader('Retry-After', String(problem.extra.retryAfterSeconds ?? 60))
  res.status(problem.status)
  res.setHeader('Content-Type', 'application/problem+json')
  res.end(
    JSON.stringify({
      type: `urn:rouse:problem:${problem.code}`,
      title: problem.title,
      status: problem.status,
      detail: problem.message,
      instance,
      code: problem.code,
      ...(problem.field === undefined ? {} : { field: problem.field }),
      ...problem.extra,
    }),
  )
}

/** Turns whatever a handler threw into a problem answer; what is unknown is logged and told as `internal`. */
export function problemHandler(log: Logger): ErrorRequestHandler {
  return (error, req, res, _next) => {
    const problem = toProblem(fromBodyParser(error) ?? error)
    if (problem.status >= 500) log.error({ err: error, method: req.method, path: req.path }, 'request.failed')
    // A stream that breaks is cut: its reader comes back with the last id that it saw.
    if (res.headersSent) return void res.destroy()
    sendProblem(res, problem, req.originalUrl.split('?')[0] ?? '/')
  }
}

export const notFound: RequestHandler = (req) => {
  throw new Problem('not-found', { detail: `Nothing answers ${req.method} ${req.path}. The README lists what does.` })
}

/** What Express's body parser complains of, in our words. */
export function fromBodyParser(error: unknown): Problem | undefined {
  if (error instanceof Problem) return undefined
  const { type, status, limit } = (error ?? {}) as { type?: string; status?: number; limit?: number }
  if (type === 'entity.parse.failed')
    return new Problem('invalid-json', { detail: 'The body is not valid JSON. Send one JSON object in UTF-8.' })
  if (type === 'entity.too.large')
    return new Problem('payload-too-large', {
      detail: `The body is larger than the ${limit ?? 'few'} bytes that this endpoint takes.`,
    })
  if (status === 415)
    return new Problem('unsupported-media-type', {
      detail: 'The charset or encoding of the body is not supported. Send UTF-8.',
    })
  if (status === 400) return new Problem('invalid-request', { detail: 'The request could not be read.' })
  return undefined
}
