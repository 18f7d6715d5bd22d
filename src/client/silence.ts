import type { Clock } from '../lib/clock.ts'
import type { FetchResponse } from './client-fetch.ts'

/** Five comments of the gateway, which writes one each 15 s to a stream on which nothing happens. */
export const silenceMsMax = 75_000

/** An answer that is read as it arrives. */
export interface OpenAnswer {
  readonly headers: FetchResponse['headers']
  /** Errors: no byte arrived for 75 s while one was awaited. */
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Opens an answer that never ends, and ends it when it goes silent: a tunnel, a proxy or a gateway that hangs ends no connection.
 * `silent` makes the error.
 */
export async function openUntilSilent(
  open: (signal: AbortSignal) => Promise<FetchResponse>,
  { outer, clock, silent }: { outer: AbortSignal | undefined; clock: Clock; silent: () => Error },
): Promise<OpenAnswer> {
  const ending = new AbortController()
  const signal = AbortSignal.any([ending.signal, ...(outer ? [outer] : [])])
  const watch = () => clock.after(silenceMsMax, () => ending.abort(silent()))
  let heard = watch()
  try {
    const { headers, body } = await open(signal)
    return { headers, body: chunks(body ?? []) }
  } finally {
    heard()
  }

  async function* chunks(body: NonNullable<FetchResponse['body']> | []): AsyncGenerator<Uint8Array, void, undefined> {
    heard = watch()
    try {
      // The reader's own pauses are no silence.
      for await (const chunk of body) {
        heard()
        yield chunk
        heard = watch()
      }
    } catch (error) {
      throw ending.signal.aborted ? ending.signal.reason : error
    } finally {
      heard()
    }
  }
}
