import type { RequestHandler, Response } from 'express'
import type { Caller } from '../registry/callers/caller.ts'
import type { Bulk } from '../registry/shares/long-turns.ts'
import type { Shares } from '../registry/shares/shares.ts'
import { callerOf } from './auth.ts'

const leaving = new WeakMap<Response, () => void>()

/**
 * Lets a caller in who has a share of the gateway left: counts the request, and has it wait while the caller has too many under
 * way. After the key, before the body. Errors: `rate-limited`.
 */
export function takeShare(shares: Shares): RequestHandler {
  return async (req, res, next) => {
    const caller = callerOf(res)
    const bytes = Number(req.headers['content-length'] ?? 0)
    const request = { what: req.baseUrl + req.path, bytes, counted: 0, gone: () => untilGone(res) }
    try {
      if (!(await enter(shares, caller, res, request))) return
    } catch (refusal) {
      if (!(await shares.mayRefuse(caller, untilGone(res)))) return void res.destroy()
      throw refusal
    }
    const { socket } = req
    const before = socket.bytesRead + socket.bytesWritten
    res.once('close', () => shares.noteBytes(caller, socket.bytesRead + socket.bytesWritten - before, request))
    next()
  }
}

function untilGone(res: Response): AbortSignal {
  const gone = new AbortController()
  if (res.closed) gone.abort()
  else res.once('close', () => gone.abort())
  return gone.signal
}

/** False: the client went away while it waited. */
async function enter(shares: Shares, caller: Caller, res: Response, request: Bulk): Promise<boolean> {
  shares.spendRequest(caller)
  const entered = shares.enter(caller, request)
  const leave = typeof entered === 'function' ? entered : await entered
  if (res.closed) {
    leave()
    return false
  }
  leaving.set(res, leave)
  res.once('close', leave)
  return true
}

/** Gives back the room of a request that stays open and waits: streams and blocking calls have limits of their own. */
export function leaveDoor(res: Response): void {
  leaving.get(res)?.()
}
