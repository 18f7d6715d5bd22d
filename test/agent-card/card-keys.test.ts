import { expect, test } from 'vitest'
import { parseCardKeys, publishedKeys, rotateCardKeys } from '../../src/agent-card/card-keys.ts'
import { createCardSigningKey } from '../../src/agent-card/signing.ts'
import { KeyFile } from '../../src/security/key-files.ts'
import { dataDirectory } from '../support/data-directory.ts'

const hour = 3_600
const start = 1_800_000_000

async function keptKey(directory: string) {
  const kept = new KeyFile(directory, 'card-signing.jwk')
  const first = JSON.parse(await kept.load(async () => JSON.stringify(await createCardSigningKey())))
  const published = async (at: number) => publishedKeys(parseCardKeys((await kept.read())!), at).map(({ kid }) => kid)
  return { kept, first, published }
}

test('a new key is published before it signs; the old one signs until then, and stays published as long as configured', async () => {
  using directory = dataDirectory()
  const { kept, first, published } = await keptKey(directory.path)
  const [second] = await rotateCardKeys(kept, { nowSeconds: start, aheadSeconds: 600, keepSeconds: hour })
  expect(await published(start)).toEqual([first.kid, second!.kid])
  expect(await published(start + 599)).toEqual([first.kid, second!.kid])
  expect(await published(start + 600)).toEqual([second!.kid, first.kid])
  expect(await published(start + 600 + hour)).toEqual([second!.kid])
})

test('a key that no longer signs keeps only its public half', async () => {
  using directory = dataDirectory()
  const { kept, first } = await keptKey(directory.path)
  await rotateCardKeys(kept, { nowSeconds: start, aheadSeconds: 600, keepSeconds: hour })
  const keys = await rotateCardKeys(kept, { nowSeconds: start + 700, aheadSeconds: 600, keepSeconds: hour })
  expect(keys.map(({ d }) => d !== undefined)).toEqual([true, true, false])
  expect(await kept.read()).not.toContain(first.d)
})

test('a leaked key is removed at once', async () => {
  using directory = dataDirectory()
  const { kept, first, published } = await keptKey(directory.path)
  const [second] = await rotateCardKeys(kept, { nowSeconds: start, aheadSeconds: 0, keepSeconds: 0 })
  expect(await published(start)).toEqual([second!.kid])
  expect(await kept.read()).not.toContain(first.x)
})

test('a key that has not signed yet never signs if another one replaces it', async () => {
  using directory = dataDirectory()
  const { kept, first, published } = await keptKey(directory.path)
  const plan = { nowSeconds: start, aheadSeconds: 600, keepSeconds: hour }
  const [second] = await rotateCardKeys(kept, plan)
  const [third] = await rotateCardKeys(kept, plan)
  expect(await published(start)).toEqual([first.kid, third!.kid, second!.kid])
  expect(await published(start + 600)).toEqual([third!.kid, first.kid, second!.kid])
})

test('two that rotate at the same time do not undo each other', async () => {
  using directory = dataDirectory()
  const { kept } = await keptKey(directory.path)
  const plan = { nowSeconds: start, aheadSeconds: 600, keepSeconds: hour }
  const stale = { ...kept, read: kept.read.bind(kept), load: kept.load.bind(kept), replace: async () => false }
  await expect(rotateCardKeys(stale, plan)).rejects.toThrow('Somebody else replaced the card key')
})
