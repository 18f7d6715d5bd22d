import type { RequestHandler, Response } from 'express'
import type { Admission } from '../../admission/admission.ts'
import { type Slot, unlimitedSlot } from '../../admission/slots.ts'
import { Attachment } from '../../lib/attachment.ts'
import { callerOf } from './auth.ts'

const slots = new Attachment<Response, Slot>('slot')

/**
 * Admits a request over HTTP, after its key and before its body, and counts its bytes when it is over. It keeps its slot until its
 * handlers have ended too: a client that hangs up has no more worked on than one that waits. Errors: those of `admit`.
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
      slot.end()
      // Bytes that were written may not have been sent.
      admission.noteBytes(caller, Math.max(0, socket.bytesRead + socket.bytesWritten - before))
    })
    next()
  }
}

/** The slot of a request. Release it for one that stays open and waits: streams and blocking calls have limits of their own. */
export function slotOf(res: Response): Slot {
  return slots.get(res) ?? unlimitedSlot
}
