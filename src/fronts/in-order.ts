import type { Request, RequestHandler, Response } from 'express'
import { slotOf } from './http/admit-request.ts'

/**
 * One handler that runs several in order. A router would match the path again for each of them, which costs more than most of
 * them do. What a handler throws, rejects with or passes to `next` goes to the error handlers of the router. The slot of the request is
 * held until the promise of a handler has settled.
 */
export function inOrder(handlers: readonly RequestHandler[]): RequestHandler {
  return (req, res, next) => {
    let position = 0
    const run = (error?: unknown): void => {
      const handler = error === undefined ? handlers[position++] : undefined
      try {
        const running: unknown = handler ? handler(req, res, run) : next(error)
        if (!(running instanceof Promise)) return
        const held = slotOf(res).hold()
        // One reaction: `catch` and `finally` would make four promises more for each handler.
        running.then(
          () => held[Symbol.dispose](),
          (failure: unknown) => {
            using _held = held
            next(failure)
          },
        )
      } catch (thrown) {
        next(thrown)
      }
    }
    run()
  }
}

/** Resolves when a handler lets a request pass. Rejects with what it throws or passes on. */
export function passes(handler: RequestHandler, req: Request, res: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    handler(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(error)))
  })
}
