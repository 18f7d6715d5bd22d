import { expect, test } from 'vitest'
import type { GatewayClient } from '../../src/client/gateway-client.ts'
import { overlapsOf, readOverlaps } from '../../src/client/overlaps.ts'

const gatewayOf = (answers: Record<string, unknown>) =>
  ({
    call: async (_route: string, { params }: { params: { id: string } }) => {
      if (params.id in answers) return answers[params.id]
      throw new Error('away')
    },
  }) as unknown as GatewayClient

test('another route that starts a turn for the same mail is named once, with the command that ends it', async () => {
  const gateway = gatewayOf({ a: { overlaps: ['b', 'c'] }, b: { overlaps: ['a', 'c'] } })
  expect(await readOverlaps(gateway, ['a', 'b', 'gone'])).toEqual([
    'the same mail also starts a turn by c. To end that one: rouse sub rm c',
  ])
})

test.each([[undefined], [{}], [{ overlaps: 'c' }], [{ overlaps: [7] }]])('%j names no other route', (subscription) => {
  expect(overlapsOf(subscription)).toEqual([])
})
