import { TaskNotFoundError } from '@a2a-js/sdk/errors'
import { decodeErrorInfo, decodeStatus, grpcStatusFor } from '@a2a-js/sdk/errors/grpc'
import { status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { Problem, type ProblemCode } from '../../src/errors.ts'
import { refusal, sendableStatus, toGrpcError } from '../../src/fronts/grpc/failure.ts'
import { silentLogger } from '../../src/logger/logger.ts'

test.each<[ProblemCode, number]>([
  ['task-not-found', status.NOT_FOUND],
  ['task-finished', status.FAILED_PRECONDITION],
  ['forbidden', status.PERMISSION_DENIED],
  ['invalid-request', status.INVALID_ARGUMENT],
  ['storage-unavailable', status.UNAVAILABLE],
  ['internal', status.INTERNAL],
])('an operation that fails with %s ends with %i', (code, expected) => {
  expect(grpcStatusFor(toGrpcError(new Problem(code), silentLogger, 'getTask'))).toBe(expected)
})

test('an unknown error is INTERNAL, without its text', () => {
  const error = toGrpcError(new Error('secret'), silentLogger, 'getTask')
  expect([grpcStatusFor(error), error.message.includes('secret')]).toEqual([status.INTERNAL, false])
  const refused = refusal(new Error('secret'), silentLogger)
  expect([refused.code, refused.details.includes('secret')]).toEqual([status.INTERNAL, false])
})

test.each<[ProblemCode, number, string]>([
  ['unauthenticated', status.UNAUTHENTICATED, 'UNAUTHENTICATED'],
  ['forbidden', status.PERMISSION_DENIED, 'FORBIDDEN'],
  ['agent-not-found', status.NOT_FOUND, 'AGENT_NOT_FOUND'],
  ['project-not-found', status.NOT_FOUND, 'PROJECT_NOT_FOUND'],
  ['invalid-request', status.INVALID_ARGUMENT, 'INVALID_REQUEST'],
  ['storage-unavailable', status.UNAVAILABLE, 'STORAGE_UNAVAILABLE'],
])('a call that is refused with %s ends with %i and its reason', (code, expected, reason) => {
  const refused = refusal(new Problem(code, { field: 'tenant', detail: 'Do this.' }), silentLogger)
  expect(refused).toMatchObject({ code: expected, details: 'Do this.' })
  const [any] = decodeStatus(refused.metadata.get('grpc-status-details-bin')[0] as Buffer).details
  expect(decodeErrorInfo(any!.value)).toMatchObject({
    reason,
    domain: 'a2a-protocol.org',
    metadata: { code, field: 'tenant' },
  })
})

test('the specification’s errors are not changed', () => {
  const error = new TaskNotFoundError({ message: 'No task a.' })
  expect(toGrpcError(error, silentLogger, 'getTask')).toBe(error)
  expect(refusal(error, silentLogger)).toMatchObject({ code: status.NOT_FOUND, details: 'No task a.' })
})

test('a status is cut and made well-formed: half a surrogate pair cannot be sent, and nor can a long text', () => {
  const said = sendableStatus({ code: status.INTERNAL, details: `\ud800${'x'.repeat(100_000)}` })
  expect(() => encodeURI(said.details)).not.toThrow()
  expect(said.details.length).toBeLessThan(1_010)
  const refused = refusal(new Problem('agent-not-found', { detail: `\udc00${'y'.repeat(100_000)}` }), silentLogger)
  expect(() => encodeURI(refused.details)).not.toThrow()
  expect((refused.metadata.get('grpc-status-details-bin')[0] as Buffer).length).toBeLessThan(2_000)
  const error = toGrpcError(new Problem('task-not-found', { detail: 'z'.repeat(100_000) }), silentLogger, 'getTask')
  expect(error.message.length).toBeLessThan(1_010)
})
