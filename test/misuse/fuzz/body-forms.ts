import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Dice } from './hostile-values.ts'

/** The head lines of a body, and the bytes after them. */
interface BodyForm {
  readonly lines: readonly string[]
  readonly bytes: Buffer
  /** True when all is there that the lines announce: then there must be an answer. */
  readonly isWhole: boolean
}

type MakeForm = (json: Buffer, dice: Dice) => BodyForm

const json = 'Content-Type: application/json'
const sized = (bytes: Buffer, ...lines: string[]): BodyForm => ({
  lines: [...lines, `Content-Length: ${bytes.length}`],
  bytes,
  isWhole: true,
})
const lengths = (length: string | number, bytes: Buffer, isWhole: boolean): BodyForm => ({
  lines: [json, `Content-Length: ${length}`],
  bytes,
  isWhole,
})
const chunked = (bytes: Buffer, isWhole: boolean, ...lines: string[]): BodyForm => ({
  lines: [json, 'Transfer-Encoding: chunked', ...lines],
  bytes,
  isWhole,
})
const encoded = (bytes: Buffer, encoding: string): BodyForm => sized(bytes, json, `Content-Encoding: ${encoding}`)
const inCharset = (bytes: Buffer, charset: string): BodyForm =>
  sized(bytes, `Content-Type: application/json; charset=${charset}`)

/** A megabyte of blanks: a kilobyte as gzip. */
const bomb = gzipSync(`${' '.repeat(2 ** 20)}{}`)

/** The ways in which a body is written wrongly, or rarely: compressed, in chunks, with another length, in another charset. */
export const bodyForms: readonly MakeForm[] = [
  (text) => encoded(gzipSync(text), 'gzip'),
  () => encoded(bomb, 'gzip'),
  (text, dice) => encoded(cut(gzipSync(text), dice), 'gzip'),
  (text) => encoded(text, 'gzip'),
  (text) => encoded(brotliCompressSync(text), 'br'),
  (text) => encoded(gzipSync(gzipSync(text)), 'gzip, gzip'),
  (text) => encoded(brotliCompressSync(gzipSync(text)), 'gzip,br'),
  (text, dice) =>
    encoded(text, dice.pick(['zstd', 'x-unknown', 'identity', 'IDENTITY', 'identity, gzip', ',', '__proto__'])),
  (text) => sized(gzipSync(text), json, 'Content-Encoding: gzip', 'Content-Encoding: identity'),

  (text) => chunked(chunks(text, 1), true),
  (text, dice) => chunked(chunks(text, 1 + Math.floor(dice.roll() * 40)), true),
  (text) => chunked(chunks(gzipSync(text), 7), true, 'Content-Encoding: gzip'),
  (text) => chunked(Buffer.concat([chunks(text, 50).subarray(0, -2), Buffer.from('Content-Length: 1\r\n\r\n')]), true),
  (text, dice) => chunked(cut(chunks(text, 5), dice), false),
  (text, dice) => {
    const size = dice.pick(['zz', '-1', '0x5', 'FFFFFFFFFFFFFFFF', '1;a="b', ' ', '5\n'])
    return chunked(Buffer.concat([Buffer.from(`${size}\r\n`), text]), false)
  },
  (text) => chunked(chunks(text, 20), false, `Content-Length: ${text.length}`),
  (text) => ({ ...chunked(chunks(text, 20), false), lines: [json, 'Transfer-Encoding: gzip, chunked'] }),
  (text) => ({ ...chunked(text, false), lines: [json, 'Transfer-Encoding: identity'] }),

  (text, dice) => lengths(Math.floor(text.length * dice.roll()), text, true),
  (text, dice) => lengths(text.length + 1 + Math.floor(dice.roll() * 10_000), text, false),
  (text, dice) => lengths(dice.pick(['-1', '1e3', '0x10', '9'.repeat(30), '', ' ', '5, 5', 'NaN']), text, false),
  (text) => ({ lines: [json, `Content-Length: ${text.length}`, 'Content-Length: 2'], bytes: text, isWhole: false }),
  (text) => lengths(0, text, true),
  (text) => ({ lines: [json], bytes: text, isWhole: true }),

  (text, dice) =>
    inCharset(text, dice.pick(['utf-16', 'utf-7', 'iso-8859-1', 'us-ascii', 'x', '"', '""', 'utf-8; charset=utf-16'])),
  (text) => inCharset(Buffer.from(text.toString(), 'utf16le'), 'utf-16le'),
  (text) => inCharset(Buffer.from(text.toString('latin1').replace(/[a-z]/, '\xff'), 'latin1'), 'utf-8'),
  (text) => inCharset(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), text]), 'UTF-8'),
]

function chunks(bytes: Buffer, size: number): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

function cut(bytes: Buffer, dice: Dice): Buffer {
  return bytes.subarray(0, Math.floor(bytes.length * dice.roll()))
}
