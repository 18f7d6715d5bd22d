import { hash, randomUUID } from 'node:crypto'
import { ulid } from 'ulid'

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * A UUID of version 7 (RFC 9562): its first 48 bits are the time, so that rows with such a key are added at the end of
 * their table instead of everywhere in it. That is what keeps a commit's pages few.
 */
export function newUuid(now = Date.now()): string {
  const random = randomUUID()
  const time = now.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`
}

export const newAgentId = (): string => `agent_${newUuid()}`
export const newSubscriptionId = (): string => `WAKE_SUB:${newUuid()}`
export const newMessageId = (): string => `MESSAGE:${newUuid()}`
export const newUlid = (now: number): string => ulid(now)

/**
 * A ULID that is a function of what it names: 48 bits of time, 16 bits of sequence, 64 bits of SHA-256 over the parts.
 * The same emission therefore has the same `eventId` in every process, before and after a crash, with nothing stored,
 * and ids of the same millisecond sort by their sequence.
 */
export function derivedUlid(timeMs: number, sequence: number, ...parts: readonly (string | number)[]): string {
  const random = Buffer.alloc(10)
  random.writeUInt16BE(sequence & 0xffff, 0)
  hash('sha256', parts.join('\n'), 'buffer').copy(random, 2, 0, 8)
  return encodeTime(timeMs) + encodeRandom(random)
}

/** The smallest ULID of an instant: every one that is made before it sorts below. */
export const ulidFloor = (timeMs: number): string => encodeTime(Math.max(0, Math.floor(timeMs))) + '0'.repeat(16)

function encodeTime(timeMs: number): string {
  let rest = timeMs
  let text = ''
  for (let i = 0; i < 10; i++) {
    text = crockford[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** 80 bits are two groups of 40 bits, each of eight base-32 digits. */
function encodeRandom(random: Buffer): string {
  let text = ''
  for (const offset of [0, 5]) {
    let group = random.readUIntBE(offset, 5)
    let digits = ''
    for (let i = 0; i < 8; i++) {
      digits = crockford[group % 32] + digits
      group = Math.floor(group / 32)
    }
    text += digits
  }
  return text
}
