import { hash, randomBytes, randomUUID } from 'node:crypto'
import { ulid } from 'ulid'

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * Returns a UUID of version 7 (RFC 9562). Its first 48 bits are the time, so rows with such a key are added at the end of their
 * table instead of everywhere in it, and a commit writes few pages.
 */
export function newUuid(now = Date.now()): string {
  const random = randomUUID()
  const time = now.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`
}

export const newAgentId = (): string => `agent_${newUuid()}`
/** Ids of sessions sort by the time of their start. */
export const newSessionId = (now = Date.now()): string => `session_${newUuid(now)}`
export const newSubscriptionId = (): string => `WAKE_SUB:${newUuid()}`
/**
 * Returns a message id. Ids sort in the order in which this process made them, also within one millisecond: 26 bits after the time
 * are a counter (RFC 9562 §6.2, method 1). An inbox in order of its ids is in order of arrival.
 */
export function newMessageId(now = Date.now()): string {
  made = now === made.at ? { at: now, count: (made.count + 1) & 0x3ffffff } : { at: now, count: 0 }
  const time = hex(now, 12)
  const low = made.count & 0x3fff
  const random = randomUUID().slice(24)
  return `${messagePrefix}${time.slice(0, 8)}-${time.slice(8)}-7${hex(made.count >> 14, 3)}-${hex(0x8000 | low, 4)}-${random}`
}
/** Returns an id for a new task: the UUID of a message id, which its first mail gets. */
export const newTaskId = (now: number): string => newMessageId(now).slice(messagePrefix.length)
/** Returns the id of the first mail of a task: it is found without an index of its own. */
export const firstMailOf = (taskId: string): string => `${messagePrefix}${taskId}`
/** Returns the id of the context that a task begins: the same UUID, of version 8. */
export const contextOf = (taskId: string): string => `${taskId.slice(0, 14)}8${taskId.slice(15)}`
/** Returns the id of the task that began a context with this id. `''`: its id is of another form, so it came with a message. */
export const beginnerOf = (contextId: string): string =>
  contextId[14] === '8' ? `${contextId.slice(0, 14)}7${contextId.slice(15)}` : ''
/** Returns the smallest message id of an instant: ids made before it sort below. */
export const messageIdFloor = (timeMs: number): string => {
  const time = hex(Math.max(0, Math.floor(timeMs)), 12)
  return `${messagePrefix}${time.slice(0, 8)}-${time.slice(8)}`
}
const messagePrefix = 'MESSAGE:'
let made = { at: -1, count: 0 }
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')
export const newUlid = (now: number): string => ulid(now)

/** Returns a generator of ULIDs that sort in the order in which it made them: half of the random bits are the generator's, half are a counter. */
export function ulidSequence(): (now: number) => string {
  const bits = randomBytes(10)
  let count = bits.readUIntBE(5, 4)
  let last = 0
  return (now) => {
    last = Math.max(last, now)
    count += 1
    bits.writeUIntBE(count, 5, 5)
    return encodeTime(last) + encodeRandom(bits)
  }
}

/**
 * Returns a ULID that is a function of what it names: 48 bits of time, 16 bits of sequence, 64 bits of SHA-256 over the parts.
 * The same emission has the same `eventId` in every process, before and after a crash, with nothing stored. Ids of the same
 * millisecond sort by their sequence.
 */
export function derivedUlid(timeMs: number, sequence: number, ...parts: readonly (string | number)[]): string {
  const digest = hash('sha256', parts.join('\n'), 'hex')
  const high = (sequence & 0xffff) * 2 ** 24 + Number.parseInt(digest.slice(0, 6), 16)
  return encodeTime(timeMs) + encodeGroup(high) + encodeGroup(Number.parseInt(digest.slice(6, 16), 16))
}

/** Returns the smallest ULID of an instant: ULIDs made before it sort below. */
export const ulidFloor = (timeMs: number): string => encodeTime(Math.max(0, Math.floor(timeMs))) + '0'.repeat(16)

/** Returns the time of a ULID, ms since the epoch. */
export function ulidTime(id: string): number {
  let time = 0
  for (let at = 0; at < 10; at++) time = time * 32 + crockford.indexOf(id[at]!)
  return time
}

let lastTime = { at: Number.NaN, text: '' }

/** The text of the last instant is kept: many ids are of the same millisecond. */
function encodeTime(timeMs: number): string {
  if (timeMs === lastTime.at) return lastTime.text
  let rest = timeMs
  let text = ''
  for (let i = 0; i < 10; i++) {
    text = crockford[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  lastTime = { at: timeMs, text }
  return text
}

/** 80 bits are two groups of 40 bits. */
function encodeRandom(random: Buffer): string {
  return encodeGroup(random.readUIntBE(0, 5)) + encodeGroup(random.readUIntBE(5, 5))
}

/** Every two digits of base 32. */
const pairs = Array.from({ length: 1024 }, (_, bits) => crockford[bits >> 5]! + crockford[bits & 31]!)

/** 40 bits are eight base-32 digits. */
function encodeGroup(group: number): string {
  const high = Math.floor(group / 2 ** 20)
  const low = group % 2 ** 20
  return pairs[high >> 10]! + pairs[high & 1023]! + pairs[low >> 10]! + pairs[low & 1023]!
}
