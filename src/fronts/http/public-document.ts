import type { Response } from 'express'

/** Says of an answer that it is the same for everybody: caches keep it, and pages of every origin may read it (the Fetch standard, CORS). */
export function markPublic(res: Response, maxAgeSeconds: number): void {
  res.setHeader('Cache-Control', `public, max-age=${maxAgeSeconds}`)
  res.setHeader('Access-Control-Allow-Origin', '*')
}
