import type { Clock } from '../lib/clock.ts'
import type { FetchResponse } from './client-fetch.ts'

/** Five comments of the gateway, which writes one each 15 s to a stream on which nothing happens. */
export const silenceMsMax = 75_000

/** An answer that is read as it arrives. Errors: no byte came for 75 s while one was awaited. */
export interface OpenAnswer extends Pick<FetchResponse, 'headers'> {
  readonly body: AsyncIterable<Uint8Array>
}

/** Opens an answer that never ends, and ends it when it goes silent: a proxy that hangs ends no connection. `silent` makes the error. */
export async function openUntilSilent(
  open: (signal: AbortSignal) => Promise<FetchResponse>,
  { outer, clock, silent }: { outer: AbortSignal | undefined; clock: Clock; silent: () => Error },
): Promise<OpenAnswer> {
  const ending = new AbortController()
  const watch = () => clock.after(silenceMsMax, () => ending.abort(silent()))
  let heard = watch()
  try {
    const { headers, body } = await open(AbortSignal.any([ending.signal, ...(outer ? [outer] : [])]))
    return { headers, body: chunks(body ?? []) }
  } finally {
    heard()
  }

  async function* chunks(body: AsyncIterable<Uint8Array> | []): AsyncGenerator<Uint8Array, void, undefined> {
    heard = watch()
    try {
      // The reader's own pauses are no silence.
      for await (const chunk of body) {
        heard()
        yield chunk
        heard = watch()
      }
    } finally {
      heard()
    }
  }
}
