import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { run } from './terminal.ts'

const as = (gateway: TestGateway, key = gateway.adminKey) => ({ ROUSE_URL: gateway.url, ROUSE_KEY: key })
const printed = (stdout: string) => ({
  key: /^key: (\S+)$/m.exec(stdout)?.[1] ?? '',
  id: /^id: {2}(\S+)$/m.exec(stdout)?.[1] ?? '',
})

test('keys of an agent are made with scopes and an end, listed, and revoked with those that they made', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const add = ['agent', 'key', 'add', '@donna', '--label', 'laptop', '--scope', 'read,mint', '--expires-in', '90d']
  const made = await run(add, as(gateway))
  expect(made.stdout).toMatch(/It expires at 2\d{3}-/)
  const laptop = printed(made.stdout)
  const child = printed((await run(['agent', 'key', 'add', 'donna'], as(gateway, laptop.key))).stdout)
  const listed = await run(['agent', 'key', 'list', '@donna'], as(gateway))
  expect(listed.stdout).toMatch(new RegExp(`${laptop.id} +laptop +read,mint +2.*@operator`))
  expect(listed.stdout).toMatch(new RegExp(`${child.id} +- +read +2.*@donna`))
  const removed = await run(['agent', 'key', 'rm', '@donna', laptop.id, '--minted'], as(gateway))
  expect(removed.stdout).toBe(`Key ${laptop.id} is revoked.\n`)
  expect((await run(['agent', 'list'], as(gateway, child.key))).code).toBe(1)
  for (const [option, value] of [
    ['--scope', 'read,admin'],
    ['--expires-in', '90'],
    ['--expires-in', '0d'],
  ] as const) {
    expect((await run(['agent', 'key', 'add', '@donna', option, value])).code).toBe(2)
  }
})

test('keys of operators are made, listed and revoked', async () => {
  await using gateway = await startGateway()
  expect((await run(['operator', 'key', 'list'], as(gateway))).stdout).toContain('the admin key is the only one')
  const add = ['operator', 'key', 'add', '--role', 'manager', '--for', 'default', '--label', 'Ines']
  const ines = printed((await run(add, as(gateway))).stdout)
  expect(ines.key).toMatch(/^rko_/)
  expect((await run(['agent', 'add', '@donna'], as(gateway, ines.key))).code).toBe(0)
  expect((await run(['operator', 'key', 'list'], as(gateway))).stdout).toMatch(/Ines +manager +default/)
  expect((await run(['operator', 'key', 'list'], as(gateway, ines.key))).stderr).toContain('forbidden')
  expect((await run(['operator', 'key', 'rm', ines.id], as(gateway))).stdout).toBe(`Key ${ines.id} is revoked.\n`)
  expect((await run(['agent', 'list'], as(gateway, ines.key))).code).toBe(1)
  expect((await run(['operator', 'key', 'add', '--role', 'owner'])).code).toBe(2)
})

test('a removed agent’s names are freed by name', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  await run(['agent', 'rm', '@donna', '--yes'], as(gateway))
  await gateway.addAgent('mike')
  const alias = ['agent', 'update', '@mike', '--alias', 'donna']
  expect((await run(alias, as(gateway))).stderr).toContain('rouse agent rm donna --free-names')
  expect((await run(['agent', 'rm', '@donna', '--free-names', '--yes'], as(gateway))).code).toBe(0)
  expect((await run(alias, as(gateway))).code).toBe(0)
})
