import { randomBytes } from 'node:crypto'

/** The kinds of frames (RFC 6455 section 5.2). */
export const opcodes = {
  more: 0,
  text: 1,
  binary: 2,
  reserved: 3,
  close: 8,
  ping: 9,
  pong: 10,
  reservedControl: 11,
} as const

interface FrameInput {
  readonly opcode?: number
  readonly isLast?: boolean
  readonly isMasked?: boolean
  /** The three bits that only extensions use. */
  readonly reserved?: number
  /** The length that the header gives. Absent: the true one. */
  readonly length?: bigint
}

/** Writes a frame of a client. Pure but for the mask. */
export function frame(payload: Buffer | string, input: FrameInput = {}): Buffer {
  const { opcode = opcodes.text, isLast = true, isMasked = true, reserved = 0, length } = input
  const bytes = Buffer.from(payload)
  const mask = isMasked ? randomBytes(4) : Buffer.alloc(0)
  const first = (isLast ? 0x80 : 0) | (reserved << 4) | opcode
  const head = lengthOf(length ?? BigInt(bytes.length))
  head[0]! |= isMasked ? 0x80 : 0
  const masked = isMasked ? bytes.map((byte, at) => byte ^ mask[at % 4]!) : bytes
  return Buffer.concat([Buffer.from([first]), head, mask, masked])
}

function lengthOf(length: bigint): Buffer {
  if (length < 126n) return Buffer.from([Number(length)])
  const isLong = length > 0xffffn
  const bytes = Buffer.alloc(isLong ? 9 : 3)
  bytes[0] = isLong ? 127 : 126
  if (isLong) bytes.writeBigUInt64BE(length, 1)
  else bytes.writeUInt16BE(Number(length), 1)
  return bytes
}

export interface Frame {
  readonly opcode: number
  readonly payload: Buffer
}

/** Reads the whole frames of a server. Pure. */
export function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = bytes[at + 1]! & 0x7f
    const head = short === 126 ? 4 : short === 127 ? 10 : 2
    if (at + head > bytes.length) break
    const length =
      short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short
    if (at + head + length > bytes.length) break
    frames.push({ opcode: bytes[at]! & 0x0f, payload: bytes.subarray(at + head, at + head + length) })
    at += head + length
  }
  return frames
}
