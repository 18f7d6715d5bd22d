import type { RequestHandler, Response } from 'express'
import type { Admission } from '../../admission/admission.ts'
import type { Slot } from '../../admission/slots.ts'
import { Attachment } from '../../lib/attachment.ts'
import { callerOf } from './auth.ts'

const slots = new Attachment<Response, Slot>('slot')

/**
 * Admits a request over HTTP, after its key and before its body, and counts its bytes when it is over. Errors: those of `admit`.
 * @param isRevocation whether a request lists or revokes keys or permissions
 */
export function admitRequest(
  admission: Admission,
  isRevocation: (res: Response) => boolean = () => false,
): RequestHandler {
  return async (req, res, next) => {
    const caller = callerOf(res)
    const slot = await admission.admit(caller, { isRevocation: isRevocation(res) })
    if (res.closed) return slot.release()
    slots.set(res, slot)
    const { socket } = req
    const before = socket.bytesRead + socket.bytesWritten
    res.once('close', () => {
      slot.release()
      // Bytes that were written may not have been sent.
      admission.noteBytes(caller, Math.max(0, socket.bytesRead + socket.bytesWritten - before))
    })
    next()
  }
}

/** Frees the slot of a request that stays open and waits: streams and blocking calls have limits of their own. */
export function releaseSlot(res: Response): void {
  slots.get(res)?.release()
}

/** Waits for the client of a request without a slot. Errors: `rate-limited`. */
export function releaseSlotWhile<T>(res: Response, wait: () => Promise<T>): Promise<T> {
  const slot = slots.get(res)
  return slot ? slot.releaseWhile(wait) : wait()
}
