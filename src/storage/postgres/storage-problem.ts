import pg from 'pg'
import { Problem } from '../../errors.ts'
import { Collision } from '../database.ts'

type Reason = 'unreachable' | 'full' | 'read-only' | 'forbidden' | 'pooled' | 'slow' | 'busy'

/**
 * The error codes of PostgreSQL that mean a fault of the server and not of the statement (SQLSTATE, appendix A of its manual).
 * A class has two characters, a single condition has five.
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
  '42501': 'forbidden',
  '26000': 'pooled', // the statement was prepared in another session
  '42P05': 'pooled',
  '53': 'full', // connections, memory, disk
  '58': 'full',
  '57014': 'slow',
  '55P03': 'slow',
  '40': 'busy',
}

const details: Record<Reason, string> = {
  unreachable: 'The database cannot be reached. Nothing was stored; try again.',
  'read-only': 'The database accepts no writes at the moment. Nothing was stored; try again.',
  forbidden: 'The database does not permit that to the gateway. Nothing was stored; ask the operator to grant it.',
  pooled:
    'A pooler before the database lends its sessions for one transaction each. Nothing was stored; ask the operator.',
  full: 'The database has no free space or no free connection. Nothing was stored; try again later.',
  slow: 'The database took too long. Nothing was stored; try again.',
  busy: 'Too many requests change the same data at the same time. Nothing was stored; try again.',
}

/** Translates an error of the driver into the problem for the caller; returns any other error unchanged. */
export function storageProblem(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error
  if (error instanceof Collision) return new Problem('storage-unavailable', { detail: details.busy, cause: error })
  const reason = reasonOf(error)
  if (reason) return new Problem('storage-unavailable', { detail: details[reason], cause: error })
  const detail = refusals[codeOf(error) ?? '']
  return detail === undefined ? error : new Problem('invalid-request', { detail, cause: error })
}

/** Values that the embedded store accepts and PostgreSQL does not. */
const refusals: Record<string, string> = {
  '22021': 'A text contains the character U+0000, which cannot be stored. Remove it.',
  '54000': 'An id, a key or a name is too long for an index. Send at most 2,000 bytes.',
}

/** The connection broke after a commit was sent and before it was answered. */
export function uncertain(cause: unknown): Problem {
  return new Problem('storage-unavailable', {
    detail:
      'The connection to the database broke during the commit, so it is uncertain whether the change was stored. Read it, or repeat the request.',
    extra: { uncertain: true },
    cause,
  })
}

const failedToConnect = new WeakSet<Error>()

/** Notes of what fails while a connection is made that it is no fault of a statement: a server that accepts none has many codes for that. */
export async function whileConnecting<T>(connecting: Promise<T>): Promise<T> {
  try {
    return await connecting
  } catch (error) {
    if (error instanceof Error) failedToConnect.add(error)
    throw error
  }
}

/** True when the store is at fault, so that running the work again at once would not help. */
export function isOutage(error: unknown): boolean {
  return ['unreachable', 'read-only', 'full', 'pooled'].includes(reasonOf(error) ?? '')
}

/** True when the connection is lost, or leads to a server that cannot be used. */
export function isConnectionLost(error: unknown): boolean {
  return ['unreachable', 'read-only'].includes(reasonOf(error) ?? '')
}

/** True when the statement was ended because it took too long, or waited too long for a lock. */
export function isSlow(error: unknown): boolean {
  return reasonOf(error) === 'slow'
}

/** True when two concurrent writers caused the error (a deadlock, a serialization failure, the same unique key): a retry may succeed. */
export function isCollision(error: unknown): boolean {
  return error instanceof Collision || ['40001', '40P01', '23505'].includes(codeOf(error) ?? '')
}

export function isDeadlock(error: unknown): boolean {
  return codeOf(error) === '40P01'
}

/** True when a commit that failed with this error was certainly rolled back. */
export function isCertain(error: unknown): boolean {
  return ['40', '23', '25'].includes(codeOf(error)?.slice(0, 2) ?? '')
}

function reasonOf(error: unknown): Reason | undefined {
  if (!(error instanceof Error) || error instanceof Problem) return undefined
  const code = codeOf(error)
  const reason = code === undefined ? driverReasonOf(error) : (reasons[code] ?? reasons[code.slice(0, 2)])
  return reason ?? (failedToConnect.has(error) ? 'unreachable' : undefined)
}

function codeOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** An error of a socket names a system call; errors of the driver have only their words. */
function driverReasonOf(error: Error): Reason | undefined {
  if (/^(timeout expired|timeout exceeded when trying to connect|Query read timeout)/.test(error.message)) return 'slow'
  const isSocket =
    'syscall' in error || error instanceof AggregateError || certificateCodes.test(String(Object(error).code))
  return isSocket || connectionLostWords.test(error.message) ? 'unreachable' : undefined
}
const certificateCodes = /^([A-Z_]*CERT|ERR_(TLS|SSL)|UNABLE_TO)/
const connectionLostWords =
  /^(SASL:|Connection terminated|Client (was closed|has encountered a connection error)|The server does not support SSL|Cannot use a pool after calling end)/
