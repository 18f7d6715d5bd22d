import type { UsageLimit } from '../bridge/adapter.ts'
import { resetIn } from './reset-time.ts'

const sentence = /(?:Usage limit reached for |Weekly\/Monthly Limit Exhausted)[^"\n]*/

/**
 * Returns the limit that Z.ai names, which harnesses pass on as they get it: `Usage limit reached for 5 hour. Your limit will reset at
 * 2026-11-27 19:01:25`. It says the time of Beijing where it names no zone. Pure.
 */
export function zaiLimit(line: string, now: number): UsageLimit | undefined {
  const [said] = sentence.exec(line) ?? []
  if (said === undefined) return undefined
  return { reason: 'usage-limit', until: resetIn(said, now, 'Asia/Shanghai'), detail: said.slice(0, 200) }
}
