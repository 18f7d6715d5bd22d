import supertest from 'supertest'
import type { TestAgent, TestGateway } from './gateway.ts'

/** Requests to a gateway over its REST API, by supertest: as the operator, as an agent, or with null without a key. */
export function restAs(gateway: TestGateway, caller: TestAgent | 'operator' | null = 'operator') {
  const rest = supertest.agent(gateway.url)
  if (caller === null) return rest
  return rest.set('authorization', `Bearer ${caller === 'operator' ? gateway.adminKey : caller.key}`)
}
