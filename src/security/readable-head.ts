const ofContinue = /^(?:HTTP\/1\.[01] 100\b[^\n]*\n(?:[^\r\n][^\n]*\n)*\r?\n)+/
const wholeHead = /^[\s\S]*?\n\r?\n/
const bareLf = /(?<!\r)\n/g

/**
 * The beginning of an answer in the form that undici reads: without `100 Continue`, which a receiver may send unasked (RFC 9110, section 15.2), and with
 * CR LF where its lines end in LF alone (RFC 9112, section 2.2). Empty: the answer has not begun.
 */
export function readableHead(chunk: Buffer): Buffer {
  const text = chunk.toString('latin1')
  const answer = text.replace(ofContinue, '')
  const readable = answer.replace(wholeHead, (head) => head.replace(bareLf, '\r\n'))
  return readable === text ? chunk : Buffer.from(readable, 'latin1')
}
