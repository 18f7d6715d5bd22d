import { randomBytes } from 'node:crypto'
import type { Dice } from './hostile-values.ts'
import { frame, opcodes } from './socket-frames.ts'

/** Bytes of a client on an open WebSocket, and what has to follow. */
export interface SocketForm {
  readonly bytes: Buffer
  /** So many messages are answered; or the gateway closes; or nothing follows, because the rest is missing. */
  readonly until: number | 'closed' | 'sent'
}

type MakeForm = (json: Buffer, dice: Dice) => SocketForm

const answered = (...frames: Buffer[]): SocketForm => ({ bytes: Buffer.concat(frames), until: 1 })
const closed = (...frames: Buffer[]): SocketForm => ({ bytes: Buffer.concat(frames), until: 'closed' })
const sent = (...frames: Buffer[]): SocketForm => ({ bytes: Buffer.concat(frames), until: 'sent' })
const many = (count: number, make: (at: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, at) => make(at)))
const { more, text, binary, close, ping, pong } = opcodes
const status = (code: number, reason: Buffer | string = ''): Buffer =>
  frame(Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]), { opcode: close })

/** One message in so many frames. */
function inPieces(json: Buffer, count: number): Buffer {
  const size = Math.ceil(json.length / count)
  return many(count, (at) =>
    frame(json.subarray(at * size, (at + 1) * size), { opcode: at === 0 ? text : more, isLast: at === count - 1 }),
  )
}

/** Messages that are none of receipts. */
const others = [
  '',
  'ping',
  '{"event":"wake","data":"{}"}',
  '{"type":"subscribe","subscription":"all"}',
  '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  '[[[]]]',
  '"\\ud800"',
  '\0',
]

/** The ways in which a client may use a WebSocket, most of them wrong. */
export const socketForms: readonly MakeForm[] = [
  ...Array.from({ length: 12 }, (): MakeForm => (json) => answered(frame(json))),
  (_, dice) => answered(frame(dice.pick(others))),
  (json) => answered(inPieces(json, 3)),
  (json) => answered(frame('', { opcode: ping }), frame(json), frame('x'.repeat(125), { opcode: pong })),
  (json) => answered(frame('', { isLast: false }), frame(json, { opcode: more })),
  (json) => ({ bytes: many(20, () => frame(json.subarray(0, 1_000))), until: 20 }),
  () => answered(frame('['.repeat(200_000))),
  () => answered(frame(`[${'[],'.repeat(80_000)}[]]`)),

  () => closed(frame('x'.repeat(256 * 1024 + 1))),
  (json) => closed(frame(json, { length: 2n ** 62n })),
  (json) => closed(frame(json, { length: 2n ** 64n - 1n })),
  () => closed(many(300, (at) => frame('[', { opcode: at === 0 ? text : more, isLast: false }))),
  (json) => closed(frame(Buffer.concat([json, Buffer.from([0xff, 0xfe])]))),
  () => closed(frame(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))),
  (json) => closed(frame(json, { opcode: binary })),
  (json) => closed(frame(json, { isMasked: false })),
  (json, dice) => closed(frame(json, { reserved: 1 + Math.floor(dice.roll() * 7) })),
  (json, dice) => closed(frame(json, { opcode: dice.pick([opcodes.reserved, opcodes.reservedControl, 7, 15]) })),
  (json) => closed(frame(json, { opcode: more })),
  (json) => closed(frame(json, { isLast: false }), frame(json)),
  () => closed(frame('x', { opcode: ping, isLast: false })),
  () => closed(frame('x'.repeat(126), { opcode: ping })),
  () => closed(many(100, () => frame('', { opcode: ping }))),
  () => closed(status(1000)),
  (_, dice) => closed(status(dice.pick([0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535]))),
  () => closed(frame('x', { opcode: close })),
  () => closed(status(1000, Buffer.from([0xff]))),
  (json) => closed(status(1000), frame(json)),

  (json, dice) => sent(frame(json).subarray(0, Math.floor(dice.roll() * json.length))),
  (json) => sent(frame(json, { isLast: false })),
  (json) => sent(frame(json, { length: BigInt(json.length + 1) })),
  () => sent(randomBytes(200)),
  (json) => sent(Buffer.from(`POST /v1/messages HTTP/1.1\r\nContent-Length: ${json.length}\r\n\r\n${json}`)),
]
