import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agentTenant } from '../../src/agent-card/card.ts'
import { Problem } from '../../src/errors.ts'
import { parseTenant } from '../../src/fronts/grpc/admitted-call.ts'

test('the tenant of a card names its agent, whatever the two are called', () => {
  const name = fc.string({ minLength: 1, unit: 'grapheme' })
  const handle = name.filter((text) => !text.startsWith('@'))
  fc.assert(
    fc.property(name, handle, (project, bare) => {
      expect(parseTenant(agentTenant({ project, handle: `@${bare}` }))).toEqual({ project, handle: bare })
    }),
  )
})

test.each([
  ['agents/donna', 'default', 'donna'],
  ['/agents/donna/', 'default', 'donna'],
  ['agents/@donna', 'default', '@donna'],
  ['projects/blue%20team/agents/donna', 'blue team', 'donna'],
  ['agents/100%', 'default', '100%'],
])('%s is an address', (tenant, project, handle) => {
  expect(parseTenant(tenant)).toEqual({ project, handle })
})

test.each(['donna', 'agents', 'agents/', 'agents/a/b', 'projects/blue', 'projects/blue/agents', 'x/agents/donna'])(
  '%s is not the address of an agent, and the answer shows the form',
  (tenant) => {
    expect(() => parseTenant(tenant)).toThrow(/agents\/\{handle\}/)
    expect(codeOf(tenant)).toBe('agent-not-found')
  },
)

test('a missing tenant gets an explanation, in both versions', () => {
  expect(() => parseTenant('')).toThrow(/tenant is required.*agents\/donna.*a2a-tenant/)
  expect(codeOf('')).toBe('invalid-request')
})

function codeOf(tenant: string): string | undefined {
  try {
    parseTenant(tenant)
    return undefined
  } catch (error) {
    return error instanceof Problem ? error.code : undefined
  }
}
