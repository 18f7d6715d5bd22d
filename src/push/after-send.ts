/** The longest time between two tries, in ms. */
const waitMsMax = 3_600_000
/** The waits after the first tries that failed, in ms. After them a notification is dropped. */
const waitsMs = [15_000, 60_000, 300_000, 1_800_000]

/** The result of a send: a status, or why there was none. `refused`: this gateway sends nothing to that address. */
export type SendResult = { readonly status: number; readonly retryAfter?: string } | { readonly failure: string }

/** `gone`: the browser has ended its subscription. `again`: after so many ms. `dropped`: it is not tried again. */
type AfterSend = { readonly step: 'sent' | 'gone' | 'dropped' } | { readonly step: 'again'; readonly waitMs: number }

/** Returns what follows from a result, given how many tries have failed before. Source: RFC 8030 §7.2, §7.3. Pure. */
export function afterSend(result: SendResult, tries: number): AfterSend {
  if ('failure' in result) return result.failure === 'refused' ? { step: 'dropped' } : later(tries)
  const { status, retryAfter } = result
  if (status >= 200 && status < 300) return { step: 'sent' }
  if (status === 404 || status === 410) return { step: 'gone' }
  return status === 429 || status >= 500 ? later(tries, Number(retryAfter) * 1_000) : { step: 'dropped' }
}

function later(tries: number, askedMs = 0): AfterSend {
  const waitMs = waitsMs[tries]
  if (waitMs === undefined) return { step: 'dropped' }
  return { step: 'again', waitMs: Math.min(waitMsMax, Math.max(waitMs, askedMs || 0)) }
}
