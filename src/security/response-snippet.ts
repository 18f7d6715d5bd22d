import type { Readable } from 'node:stream'

/** A longer answer is cut off. Up to this size, reading to the end is cheaper than a new connection. */
const bodyBytesMax = 64 * 1024
const snippetBytesMax = 2 * 1024

/** Reads an answer to its end or to the limit, keeping its beginning as text. Rejects when the connection breaks. */
export function readSnippet(body: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    const kept: Buffer[] = []
    let bytes = 0
    body.on('data', (chunk: Buffer) => {
      if (bytes < snippetBytesMax) kept.push(chunk.subarray(0, snippetBytesMax - bytes))
      bytes += chunk.length
      if (bytes <= bodyBytesMax) return
      resolve(toText(kept))
      body.destroy()
    })
    body.once('end', () => resolve(toText(kept)))
    // The listener stays for the whole life of the stream, because destroying it emits an error too.
    body.on('error', reject)
  })
}

/** A character cut in two at the end is dropped. PostgreSQL has no U+0000 in text, so it is replaced as well. */
function toText(chunks: readonly Buffer[]): string {
  const bytes = Buffer.concat(chunks)
  const text = bytes.length < snippetBytesMax ? bytes.toString() : new TextDecoder().decode(bytes, { stream: true })
  return text.replaceAll('\u0000', '\uFFFD')
}
