import pg from 'pg'
import { expect, test } from 'vitest'
import { Collision } from '../../../src/storage/database.ts'
import { isCertain, isCollision, isOutage, storageProblem } from '../../../src/storage/postgres/storage-problem.ts'

function refusal(code: string): Error {
  const error = new pg.DatabaseError('refused', 7, 'error')
  error.code = code
  return error
}

// SQLSTATE: PostgreSQL's manual, appendix A.
test.each([
  ['08006', 'connection_failure'],
  ['53300', 'too_many_connections'],
  ['53100', 'disk_full'],
  ['53200', 'out_of_memory'],
  ['58030', 'io_error'],
  ['57P01', 'admin_shutdown'],
  ['57P02', 'crash_shutdown'],
  ['57P03', 'cannot_connect_now'],
  ['25006', 'read_only_sql_transaction'],
  ['25P03', 'idle_in_transaction_session_timeout'],
  ['28P01', 'invalid_password'],
  ['26000', 'invalid_sql_statement_name: a pooler came between'],
  ['42P05', 'duplicate_prepared_statement: a pooler came between'],
])('%s %s means that the store is unavailable: no writer is run again', (code) => {
  expect(isOutage(refusal(code))).toBe(true)
  expect(storageProblem(refusal(code))).toMatchObject({ code: 'storage-unavailable', status: 503 })
})

test.each([
  ['57014', 'query_canceled'],
  ['55P03', 'lock_not_available'],
  ['40P01', 'deadlock_detected'],
  ['40001', 'serialization_failure'],
  ['42501', 'insufficient_privilege'],
])('%s %s means that one writer failed: it may be retried, and is no outage', (code) => {
  expect(isOutage(refusal(code))).toBe(false)
  expect(storageProblem(refusal(code))).toMatchObject({ code: 'storage-unavailable', status: 503 })
})

test.each([
  Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED', syscall: 'connect' }),
  Object.assign(new Error('getaddrinfo ENOTFOUND db'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' }),
  new AggregateError([], 'both addresses refused'),
  new Error('Connection terminated unexpectedly'),
  new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
  Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
  Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }),
  new Error('timeout exceeded when trying to connect'),
])('%s is the store that is unavailable', (error) => {
  expect(storageProblem(error)).toMatchObject({ code: 'storage-unavailable' })
})

test('an error of the code is not translated, and is no outage', () => {
  for (const error of [refusal('42P01'), refusal('23505'), new TypeError('no'), 'text']) {
    expect(storageProblem(error)).toBe(error)
    expect(isOutage(error)).toBe(false)
  }
})

test('concurrent writers may be run again; a commit that failed for them was certainly rolled back', () => {
  for (const code of ['40001', '40P01', '23505']) {
    expect(isCollision(refusal(code))).toBe(true)
    expect(isCertain(refusal(code))).toBe(true)
  }
  expect(isCollision(new Collision('moved'))).toBe(true)
  expect(isCollision(refusal('42601'))).toBe(false)
  expect(isCertain(new Error('Connection terminated unexpectedly'))).toBe(false)
  expect(isCertain(refusal('57P01'))).toBe(false)
})
