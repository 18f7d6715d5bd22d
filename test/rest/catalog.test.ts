import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { restAs } from '../support/rest.ts'
import { besideStore } from '../support/store.ts'

let gateway: TestGateway
let reader: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  for (let n = 0; n < 60; n++) {
    await gateway.addAgent(`agent-${`${n}`.padStart(2, '0')}`, {
      skills: [{ id: 's', name: 'n', tags: n === 59 ? ['rare'] : [] }],
    })
  }
  reader = await gateway.addAgent('zed')
})

afterAll(() => gateway[Symbol.asyncDispose]())

interface Page {
  readonly cards: readonly { readonly name: string }[]
  readonly nextPageToken: string
}

async function pages(query: string): Promise<Page[]> {
  const all: Page[] = []
  for (let token: string | undefined; token !== ''; ) {
    const request = restAs(gateway, reader).get('/v1/catalog').query(query)
    const { body } = await (token === undefined ? request : request.query({ pageToken: token })).expect(200)
    all.push(body)
    token = body.nextPageToken as string
  }
  return all
}

test('is read page by page, each card once, by handle', async () => {
  const all = await pages('limit=7')
  const names = all.flatMap(({ cards }) => cards.map(({ name }) => name))
  expect(names).toEqual([...names].sort())
  expect([names.length, new Set(names).size, all.length]).toEqual([61, 61, 9])
  expect((await pages(''))[0]?.cards).toHaveLength(61)
})

test('finds a rare agent, however many agents come before it', async () => {
  const all = await pages('tag=rare&limit=5')
  expect(all.flatMap(({ cards }) => cards)).toHaveLength(1)
})

test('one call reads a bounded size of descriptions', async () => {
  // From before there was a lower limit.
  const examples = [1, 2].map(() => 'x'.repeat(2_000))
  const skills = Array.from({ length: 25 }, (_, n) => ({ id: `${n}`, name: 'n', examples }))
  const grow = "update agent set version = version + 1, skills = ? where handle like '@agent-%'"
  await besideStore(gateway.dataDir, grow, JSON.stringify(skills))
  const all = await pages('limit=200')
  expect(all.length).toBeGreaterThan(1)
  expect(all.flatMap(({ cards }) => cards)).toHaveLength(61)
  for (const page of all) expect(JSON.stringify(page).length).toBeLessThan(2 * 1024 * 1024)
})

// S4-14
test('lists the public agents of other projects after its own, and no others, page by page', async () => {
  await restAs(gateway).post('/v1/projects').send({ project: 'web' }).expect(201)
  await restAs(gateway).post('/v1/projects').send({ project: 'app' }).expect(201)
  const add = (handle: string, project: string, access: string) =>
    gateway.addAgent(handle, { project, access, skills: [{ id: 'zither', name: 'Zither' }] })
  for (let n = 0; n < 30; n++) await add(`open-${`${n}`.padStart(2, '0')}`, n % 2 ? 'web' : 'app', 'public')
  await add('hidden', 'web', 'private')
  await add('inside', 'web', 'project')
  for (const limit of [4, 25, 200]) {
    const all = await pages(`skill=zither&limit=${limit}`)
    const names = all.flatMap(({ cards }) => cards.map(({ name }) => name))
    expect(names).toHaveLength(30)
    expect(new Set(names).size).toBe(30)
    for (const { cards } of all) expect(cards.length).toBeLessThanOrEqual(limit)
  }
})
