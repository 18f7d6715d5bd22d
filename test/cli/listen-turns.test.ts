import { appendFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { start } from './terminal.ts'

function listen(gateway: TestGateway, { key }: TestAgent, ...argv: string[]) {
  return start(['listen', ...argv], { PATH: process.env.PATH, ROUSE_URL: gateway.url, ROUSE_KEY: key })
}

function counting() {
  const file = join(mkdtempSync(join(tmpdir(), 'rouse-turns-')), 'runs')
  appendFileSync(file, '')
  const runs = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
  return { file, runs }
}

const turnsOf = async (gateway: TestGateway, agent: string) =>
  (await gateway.call('GET', `/v1/turns?agent=${agent}`)).body.turns.filter(
    ({ outcome }: { outcome: string }) => outcome !== 'withheld',
  )

// D53
test('two agents that answer each other for ever end at the cap, and the account has each run', async () => {
  await using gateway = await startGateway()
  const [donna, lola] = [await gateway.addAgent('donna'), await gateway.addAgent('lola')]
  await gateway.call('PATCH', '/v1/gate', { settings: { senderTurnsPerHour: 4 } })
  const { file, runs } = counting()
  // A model that answers whatever it is sent with new mail.
  const answer = (own: TestAgent, to: string) =>
    `echo ${to} >> ${file}; curl -s -X POST ${gateway.url}/v1/messages -H "authorization: Bearer ${own.key}" ` +
    `-H 'content-type: application/json' -d '{"to":"${to}","subject":"and you?"}' > /dev/null`
  const terminals = [
    listen(gateway, donna, '--exec', answer(donna, '@lola')),
    listen(gateway, lola, '--exec', answer(lola, '@donna')),
  ]
  await Promise.all(terminals.map((terminal) => terminal.until(/Listening to/)))
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'begin' }, { key: lola.key })
  await Promise.race(terminals.map((terminal) => terminal.until(/no turn begins/)))
  const count = (to: string) => runs().filter((line) => line === to).length
  expect(count('@lola') + count('@donna')).toBeLessThanOrEqual(8)
  expect(Math.max(count('@lola'), count('@donna'))).toBe(4)
  for (const [agent, to] of [
    ['donna', '@lola'],
    ['lola', '@donna'],
  ] as const) {
    const turns = await until(
      () => turnsOf(gateway, agent),
      (all) => all.every(({ outcome }: { outcome: string }) => outcome === 'completed'),
    )
    expect(turns).toHaveLength(count(to))
  }
  for (const terminal of terminals) {
    terminal.interrupt()
    await terminal.code
  }
})

test('an operator who listens for an agent begins turns of that agent', async () => {
  await using gateway = await startGateway()
  const [donna, lola] = [await gateway.addAgent('donna'), await gateway.addAgent('lola')]
  const { file, runs } = counting()
  const operator = { handle: '', key: gateway.adminKey }
  const terminal = listen(gateway, operator, '--agent', donna.handle, '--exec', `echo run >> ${file}`)
  await terminal.until(/Listening to/)
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key: lola.key })
  const [turn] = await until(
    () => turnsOf(gateway, 'donna'),
    ([first]) => first?.outcome === 'completed',
  )
  expect(turn).toMatchObject({ agent: '@donna', act: 'run', route: 'exec', senders: ['@lola'] })
  expect(runs()).toEqual(['run'])
  terminal.interrupt()
  await terminal.code
})
