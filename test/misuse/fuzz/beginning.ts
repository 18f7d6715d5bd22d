import type { Readable } from 'node:stream'

/** The time for which a stream that says nothing is listened to, in ms. */
export const silenceMs = 20
/** An event has come. */
export const hasEvent = /^data:/m

/** Reads a stream to its first event, or for a moment where it has none, and leaves it: it would go on. */
export async function beginningOf(stream: Readable): Promise<string> {
  let text = ''
  const leaving = setTimeout(() => stream.destroy(), silenceMs)
  try {
    for await (const part of stream) {
      text += (part as Buffer).toString('latin1')
      if (hasEvent.test(text)) break
    }
  } catch {
    // The fuzzer has left, or the gateway has closed the connection.
  } finally {
    clearTimeout(leaving)
  }
  return text
}
