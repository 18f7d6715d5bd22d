import { Problem, toProblem } from '../../../errors.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { ReceiptInput } from '../../../wake-stream/report.ts'
import type { FrontContext } from '../../front-context.ts'
import { requireModestJson, requireStorableJson } from '../../json-shape.ts'
import { problemBody } from '../../problem-body.ts'
import { parse } from '../../validate.ts'
import { receiptsInput } from './input.ts'
import { countedReport } from './report-receipts.ts'

/** A frame of the gateway, as an event is: its name and its data. */
export interface AnswerFrame {
  readonly event: 'receipts' | 'error'
  readonly data: object
}

/** Answers one frame of a reader. */
export type AnswerFrames = (text: Buffer) => Promise<AnswerFrame>

const path = '/v1/wake-stream/receipts'

/**
 * Returns what answers the receipts that a reader sends over its WebSocket. A frame is the body of `POST /v1/wake-stream/receipts`:
 * it counts as such a request, and has the same answer or the same problem.
 */
export function receiptFrames(context: FrontContext, caller: Caller): AnswerFrames {
  const { admission, saw, wakeStreams } = context
  const answer = async (text: Buffer): Promise<AnswerFrame> => {
    saw(caller, false)
    return { event: 'receipts', data: { receipts: await countedReport(context, caller, receiptsOf(text)) } }
  }
  const refuse = (error: unknown): AnswerFrame => {
    const problem = toProblem(error)
    if (problem.isFault) wakeStreams.log.error({ err: error, path }, 'request.failed')
    return { event: 'error', data: problemBody(problem, path) }
  }
  return async (text) => {
    try {
      const slot = await admission.admit(caller)
      return await answer(text).finally(() => slot.release())
    } catch (error) {
      return refuse(error)
    }
  }
}

function receiptsOf(text: Buffer): ReceiptInput[] {
  requireModestJson(text)
  requireStorableJson(text)
  return parse(receiptsInput, parsed(text))
}

function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch (cause) {
    throw new Problem('invalid-json', { detail: 'The message is not valid JSON. Send one array of receipts.', cause })
  }
}
