import type { Response } from 'express'
import { jsonInChunks } from '../lib/json-in-chunks.ts'
import { sliceBytes } from '../lib/pauses.ts'
import { callerOf } from './auth.ts'
import { contentBytes } from './door.ts'

/** Whether the content of a request, its body or what it has read for its answer, takes more than one slice of work. */
export function hasLargeContent(res: Response): boolean {
  return contentBytes(res) >= sliceBytes
}

/** Sends an answer with large content. It is encoded over several iterations of the event loop. */
export async function sendLargeJson(res: Response, answer: object): Promise<void> {
  const body = await jsonInChunks(answer, callerOf(res)?.id ?? '')
  if (!res.hasHeader('Content-Type')) res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.setHeader('Content-Length', body.length)
  res.end(body)
}
