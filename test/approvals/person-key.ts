import { expect } from 'vitest'
import type { ProcessClient } from '../support/process-client.ts'

/** Makes the key of a person who may approve. */
export async function personKey(
  gateway: Pick<ProcessClient, 'call'>,
  label: string,
  fields: object = {},
): Promise<string> {
  const key = { role: 'manager', label, approve: true, ...fields }
  const { status, body } = await gateway.call('POST', '/v1/operator-keys', key)
  expect(status, JSON.stringify(body)).toBe(201)
  return body.operatorKey
}
