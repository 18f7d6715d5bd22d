import { expect, test } from 'vitest'
import { listNamesAround } from '../../src/registry/agents/agent-names.ts'
import { openOffice } from '../mailbox/office.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'

const mail = (gateway: TestGateway, from: TestAgent | undefined, to: string) =>
  gateway.call('POST', '/v1/messages', { to, subject: 'Hello' }, from ? { key: from.key } : {})
const recipientsOf = async (gateway: TestGateway, from: TestAgent | undefined, to: string) => {
  const { status, body } = await mail(gateway, from, to)
  return status === 201 ? body.recipients.map(({ agent }: { agent: string }) => agent).sort() : body
}
/** Two thousand names of one agent, which no caller could give it. */
const addManyNames = (dataDir: string) =>
  besideStore(
    dataDir,
    `insert into agent_name (project_id, name, agent_id)
      with recursive worker(n) as (select 10000 union all select n + 1 from worker where n < 11999)
      select 'default', '@worker' || n, id from worker cross join agent where handle = '@donna'`,
  )
const startSession = async (gateway: TestGateway, agent: TestAgent, capabilities: string[] = []) =>
  (await gateway.call('POST', '/v1/sessions', { surface: 'codex', capabilities }, agent)).body.sessionId as string

// S2-3, S4-4
test.each([
  '@donna',
  'donna',
  '@Donna',
  'lead',
  '@lead',
  'Sintra',
  'sintra',
  ' @donna ',
  'default:@donna',
  'default:Sintra',
])('mail to "%s" is mail to @donna', async (to) => {
  await using gateway = await startGateway()
  const mike = await gateway.addAgent('mike')
  await gateway.addAgent('donna', { aliases: ['lead'], displayName: 'Sintra' })
  expect(await recipientsOf(gateway, mike, to)).toEqual(['@donna'])
})

// S4-3
test.each(['Donna Paulsen', 'Belém', 'Constellation', 'Agent7', '', 'Operator', 'All'])(
  'a display name is 1 to 12 ASCII letters and no reserved word: "%s" is refused',
  async (displayName) => {
    await using gateway = await startGateway()
    const made = await gateway.call('POST', '/v1/agents', { handle: 'donna', displayName })
    expect(made.body).toMatchObject({ status: 400, code: 'invalid-request', field: 'displayName' })
    const donna = await gateway.addAgent('donna', { displayName: 'Donna' })
    const changed = await gateway.call('PATCH', '/v1/agents/donna', { displayName }, donna)
    expect(changed.body).toMatchObject({ status: 400, field: 'displayName' })
    if (displayName) expect(changed.body.detail).toContain('1 to 12 letters')
  },
)

// S4-3: a name from before the rule
test('an agent keeps the display name that it has, and it is no address', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await besideStore(gateway.dataDir, "update agent set display_name = 'Donna Paulsen' where handle = '@donna'")
  const same = { displayName: 'Donna Paulsen', description: 'reviews' }
  expect((await gateway.call('PATCH', '/v1/agents/donna', same, donna)).body).toMatchObject(same)
  const mike = await gateway.addAgent('mike')
  expect((await mail(gateway, mike, 'Donna Paulsen')).body.code).toBe('agent-not-found')
  expect(await recipientsOf(gateway, mike, 'All')).toEqual(['@donna'])
  expect(await recipientsOf(gateway, mike, 'Operator')).toEqual(['@operator'])
})

// S4-3
test('a name that is an address belongs to one agent in its project, for every caller and spelling', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna', { displayName: 'Sintra' })
  const taken = { code: 'agent-exists', status: 409 }
  const add = (body: object) => gateway.call('POST', '/v1/agents', body)
  expect((await add({ handle: 'mike', displayName: 'SINTRA' })).body).toMatchObject({ ...taken, field: 'displayName' })
  expect((await add({ handle: 'mike', displayName: 'Donna' })).body).toMatchObject({ ...taken, field: 'displayName' })
  expect((await add({ handle: 'sintra' })).body).toMatchObject({ ...taken, field: 'handle' })
  expect((await add({ handle: 'mike', aliases: ['sintra'] })).body).toMatchObject({ ...taken, field: 'aliases' })
  await gateway.addAgent('mike', { displayName: 'Mike' })
  const rename = { displayName: 'Sintra' }
  expect((await gateway.call('PATCH', '/v1/agents/mike', rename)).body).toMatchObject(taken)
  await gateway.call('PATCH', '/v1/agents/donna', { displayName: 'Douro' })
  expect((await gateway.call('PATCH', '/v1/agents/mike', rename)).status).toBe(200)
  expect(await recipientsOf(gateway, donna, 'Sintra')).toEqual(['@mike'])
})

// S4-4
test('an unknown name is refused with the nearest names', async () => {
  await using gateway = await startGateway()
  const mike = await gateway.addAgent('mike')
  await gateway.addAgent('donna', { aliases: ['web-owner'] })
  expect((await mail(gateway, mike, 'dona')).body).toMatchObject({
    status: 404,
    code: 'agent-not-found',
    field: 'to',
    candidates: ['@donna'],
    detail: expect.stringContaining('Did you mean @donna?'),
  })
  expect((await mail(gateway, mike, '@web')).body.candidates).toEqual(['@web-owner'])
  expect((await mail(gateway, mike, 'zzz')).body.candidates).toEqual([])
  for (const to of [' ', '@', 'default:', ':donna', 'de fault:donna']) {
    expect((await mail(gateway, mike, to)).body, to).toMatchObject({ status: 400, field: 'to' })
  }
  expect((await mail(gateway, mike, 'nowhere:donna')).body).toMatchObject({ code: 'agent-not-found', candidates: [] })
  expect((await gateway.call('POST', '/v1/messages', { to: 'nowhere:donna', subject: 'Hello' })).body).toMatchObject({
    code: 'project-not-found',
    field: 'to',
  })
})

// The attack: mallory mistypes, and each time all names of a large project are compared with it.
test('of thousands of names an unknown one is compared with the few that begin alike', async () => {
  await using gateway = await startGateway()
  const mike = await gateway.addAgent('mike')
  await gateway.addAgent('donna')
  await addManyNames(gateway.dataDir)
  const slip = await mail(gateway, mike, '@worker1150')
  expect(slip.body).toMatchObject({ code: 'agent-not-found', candidates: { length: 5 } })
  expect(slip.body.candidates).toContain('@worker11500')
  expect((await mail(gateway, mike, '@dona')).body.candidates).toEqual(['@donna'])
})

test('the names around another are the nearest in their order, on both sides', async () => {
  await using office = await openOffice('donna')
  await addManyNames(office.directory)
  const around = async (name: string) => (await listNamesAround(office.db, 'default', name, 200)).sort()
  const compared = await around('@worker11500')
  expect([compared.length, compared[0], compared.at(-1)]).toEqual([200, '@worker11400', '@worker11599'])
  expect(await around('@dona')).toHaveLength(100)
  expect(await around('@zoltan')).toHaveLength(100)
})

// S4-3, S4-4
test('a live session is addressed by its technical id, its whole id, and a capability that only it has', async () => {
  await using gateway = await startGateway()
  const mike = await gateway.addAgent('mike')
  const donna = await gateway.addAgent('donna')
  const session = await startSession(gateway, donna, ['has-telegram', 'Web-Lane'])
  for (const to of [`s${session.slice(-6)}`, `s${session.slice(-10)}`, session, 'has-telegram', 'web-lane']) {
    expect(await recipientsOf(gateway, mike, to), to).toEqual(['@donna'])
  }
  const { body } = await mail(gateway, mike, '@has-telegram')
  expect(body.code).toBe('agent-not-found')
})

// S4-4
test('a capability that two have is refused with the candidates; a name is never ambiguous', async () => {
  await using gateway = await startGateway()
  const mike = await gateway.addAgent('mike')
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await startSession(gateway, donna, ['has-telegram', 'lola'])
  await startSession(gateway, lola, ['has-telegram'])
  expect((await mail(gateway, mike, 'has-telegram')).body).toMatchObject({
    status: 409,
    code: 'ambiguous-address',
    candidates: ['@donna', '@lola'],
    detail: 'to: "has-telegram" names @donna and @lola. Name one of them.',
  })
  expect(await recipientsOf(gateway, mike, 'lola')).toEqual(['@lola'])
})

// S4-2: identity against process
test('a new process inherits the name and its mail, and never the technical id of the one before', async () => {
  await using gateway = await startGateway()
  const mike = await gateway.addAgent('mike')
  const donna = await gateway.addAgent('donna')
  const first = await startSession(gateway, donna, ['has-telegram'])
  await gateway.call('DELETE', `/v1/sessions/${first}`, undefined, donna)
  const gone = await mail(gateway, mike, `s${first.slice(-6)}`)
  expect(gone.body).toMatchObject({ code: 'agent-not-found', detail: expect.stringContaining('A session ends') })
  expect((await mail(gateway, mike, 'has-telegram')).body.code).toBe('agent-not-found')
  const { body } = await mail(gateway, mike, '@donna')
  expect(body.resolvedToSession).toBeNull()
  const second = await startSession(gateway, donna)
  expect((await mail(gateway, mike, '@donna')).body.resolvedToSession).toBe(second)
  const { messages } = (await gateway.call('GET', '/v1/inbox', undefined, donna)).body
  expect(messages.map(({ messageId }: { messageId: string }) => messageId)).toContain(body.messageId)
})

// S2-3
test('a broadcast goes to every agent of the project except the sender', async () => {
  await using gateway = await startGateway()
  const mike = await gateway.addAgent('mike')
  await gateway.addAgent('donna')
  await gateway.addAgent('lola', { access: 'private' })
  for (const to of ['*', 'all', 'ALL', 'default:*']) {
    expect(await recipientsOf(gateway, mike, to), to).toEqual(['@donna', '@lola'])
  }
  expect(await recipientsOf(gateway, undefined, '*')).toEqual(['@donna', '@lola', '@mike'])
})
