import pg from 'pg'
import { Problem } from '../../errors.ts'
import { Collision } from '../database.ts'

type Reason = 'unreachable' | 'full' | 'read-only' | 'slow' | 'busy'

/**
 * What PostgreSQL says when the fault is the server's and not the statement's (SQLSTATE, appendix A of its manual): classes
 * by two characters, conditions by five.
 */
const reasons: Record<string, Reason> = {
  '08': 'unreachable',
  '28': 'unreachable', // the password was changed, or the role
  '3D000': 'unreachable',
  '57P01': 'unreachable',
  '57P02': 'unreachable',
  '57P03': 'unreachable',
  '57P05': 'unreachable',
  '25P03': 'unreachable',
  '25006': 'read-only', // a standby, or a primary that is being replaced
  '53': 'full', // connections, memory, disk
  '58': 'full',
  '57014': 'slow',
  '55P03': 'slow',
  '40': 'busy',
}

const details: Record<Reason, string> = {
  unreachable: 'The database cannot be reached. Nothing was stored; try again.',
  'read-only': 'The database accepts no writes at the moment. Nothing was stored; try again.',
  full: 'The database has no free space or no free connection. Nothing was stored; try again later.',
  slow: 'The database took too long. Nothing was stored; try again.',
  busy: 'Too many requests change the same data at the same time. Nothing was stored; try again.',
}

/** What the driver throws when the server refuses, as the problem that callers are told; any other error as it is. */
export function storageProblem(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error
  if (error instanceof Collision) return new Problem('storage-unavailable', { detail: details.busy, cause: error })
  const reason = reasonOf(error)
  if (reason) return new Problem('storage-unavailable', { detail: details[reason], cause: error })
  const detail = refusals[codeOf(error) ?? '']
  return detail === undefined ? error : new Problem('invalid-request', { detail, cause: error })
}

/** What the embedded store takes and PostgreSQL cannot. */
const refusals: Record<string, string> = {
  '22021': 'A text contains the character U+0000, which cannot be stored. Remove it.',
  '54000': 'An id, a key or a name is too long for an index. Send at most 2,000 bytes.',
}

/** The connection broke between the question and the answer to a commit. */
export function uncertain(cause: unknown): Problem {
  return new Problem('storage-unavailable', {
    detail:
      'The connection to the database broke during the commit, so it is uncertain whether the change was stored. Read it, or repeat the request.',
    cause,
  })
}

/** Whether the store is at fault, so that running the same again at once helps nobody. */
export function isOutage(error: unknown): boolean {
  return ['unreachable', 'read-only', 'full'].includes(reasonOf(error) ?? '')
}

/** Whether the connection is gone, or leads to a server that cannot be used. */
export function isConnectionLost(error: unknown): boolean {
  return ['unreachable', 'read-only'].includes(reasonOf(error) ?? '')
}

/** Whether somebody waited for so long that the statement was ended. */
export function isSlow(error: unknown): boolean {
  return reasonOf(error) === 'slow'
}

/** Whether it came of two who wrote at the same time (deadlock, serialization, a key that both wanted): again, it may pass. */
export function isCollision(error: unknown): boolean {
  return error instanceof Collision || ['40001', '40P01', '23505'].includes(codeOf(error) ?? '')
}

/** Whether a commit that ended with this error is certainly not kept. */
export function isCertain(error: unknown): boolean {
  return ['40', '23', '25'].includes(codeOf(error)?.slice(0, 2) ?? '')
}

function reasonOf(error: unknown): Reason | undefined {
  if (!(error instanceof Error) || error instanceof Problem) return undefined
  const code = codeOf(error)
  if (code === undefined) return driverReasonOf(error)
  return reasons[code] ?? reasons[code.slice(0, 2)]
}

function codeOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** A socket's error has a system call; the driver's own are known by their words alone. */
function driverReasonOf(error: Error): Reason | undefined {
  if (/^(timeout expired|timeout exceeded when trying to connect|Query read timeout)/.test(error.message)) return 'slow'
  const isSocket = 'syscall' in error || error instanceof AggregateError
  return isSocket || lostWords.test(error.message) ? 'unreachable' : undefined
}
const lostWords =
  /^(Connection terminated|Client (was closed|has encountered a connection error)|The server does not support SSL|Cannot use a pool after calling end)/
