import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { event } from './answers.ts'
import { problem, startStubGateway } from './stub-gateway.ts'
import { start } from './terminal.ts'

test('watch shows what waits for a person, and again when that changes', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const terminal = start(['watch', '--notify'], { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey, PATH: '/none' })
  await terminal.until(/Nothing waits for you\./)
  const { id } = await gateway.send('donna', 'deploy')
  await gateway.move(donna, id, 'input-required', { message: 'Where?\u001b[2J' })
  await terminal.until(/input +@donna .*deploy: Where\?/)
  expect(terminal.stdout()).not.toContain('\u001b[2J')
  await terminal.until(/No notification: the program for notifications is not installed\./)
  await gateway.call('POST', `/v1/tasks/${id}/transitions`, { to: 'canceled', expectedVersion: 2 })
  await terminal.until(/Nothing waits for you\.\n[\s\S]*Nothing waits for you\./)
  terminal.interrupt()
  expect(await terminal.code).toBe(130)
})

test('watch outlives a gateway that is away: it looks again when the stream is back', async () => {
  const counts = { stops: 0, wakes: 0, late: 0, mail: 0 }
  const empty = {
    needs: [],
    folded: [],
    groups: [],
    counts,
    countsAtLeast: [],
    total: {},
    atLeast: [],
    nextPageToken: '',
  }
  const nothing = { json: { ...empty, more: false } }
  const answers = [nothing, problem(503, 'unavailable', 'Stopping'), problem(429, 'rate-limited', 'Slow down')]
  let opened = 0
  await using gateway = await startStubGateway({
    'GET /v1/needs': () => answers.shift() ?? { json: { ...empty, more: true } },
    'GET /v1/events': (_request, response) => {
      opened++
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const text = `id: ${opened}\ndata: ${JSON.stringify(event(opened))}\n\n`
      if (opened < 3) response.end(text)
      else response.write(text)
    },
  })
  const terminal = start(['watch', '--json', '--url', gateway.url])
  await terminal.until(/"more": ?false/)
  await until(
    () => answers.length,
    (left) => left === 0,
  )
  await until(
    () => opened,
    (count) => count === 3,
  )
  await until(
    () => gateway.requests.filter(({ path }) => path === '/v1/needs').length,
    (count) => count > 3,
  )
  expect(terminal.stderr()).toContain('connecting again')
  terminal.interrupt()
  expect(await terminal.code).toBe(130)
})

test('watch tells of a need of another agent, and of more of one that has many, however many there are', async () => {
  await using gateway = await startGateway()
  const [eve, bob] = [await gateway.addAgent('eve'), await gateway.addAgent('bob')]
  const say = ({ key }: { key: string }, subject: string) =>
    gateway.call('POST', '/v1/messages', { to: '@operator', subject }, { key })
  for (let n = 0; n < 130; n++) await say(eve, `n${n}`)
  const bin = mkdtempSync(join(tmpdir(), 'rouse-notify-'))
  const told = join(bin, 'told')
  writeFileSync(join(bin, 'notify-send'), `#!/bin/sh\necho "$@" >> ${told}\n`, { mode: 0o755 })
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey, PATH: `${bin}:${process.env.PATH}` }
  const terminal = start(['watch', '--notify'], env)
  await terminal.until(/130 messages, the first: n0/)
  await say(bob, 'URGENT')
  await terminal.until(/@bob .*URGENT/)
  await say(eve, 'once more')
  await terminal.until(/131 messages, the first: n0/)
  const texts = await until(
    () => (existsSync(told) ? readFileSync(told, 'utf8') : ''),
    (text) => text.includes('126'),
  )
  expect(texts).toMatch(/-- @bob wrote to the operator URGENT\n.*-- @eve wrote to the operator and 126 more\n$/)
  terminal.interrupt()
  await terminal.code
  rmSync(bin, { recursive: true })
})

test('watch with a wrong key says so, and ends', async () => {
  await using gateway = await startGateway()
  const terminal = start(['watch'], { ROUSE_URL: gateway.url, ROUSE_KEY: `rk_${'x'.repeat(43)}` })
  expect(await terminal.code).toBeGreaterThan(0)
  expect(terminal.stderr()).toContain('key')
})
