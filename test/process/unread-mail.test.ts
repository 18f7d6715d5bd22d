import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { atTestEnd } from '../support/ends.ts'
import { startGateway } from '../support/gateway.ts'
import { rouseWords } from '../support/program/rouse-words.ts'
import { until } from '../support/until.ts'

const argv = [...rouseWords(), 'mcp']

// S2-14
test('mail for a harness that has closed its end of standard output waits for the next session', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello' })
  const env = { PATH: process.env.PATH ?? '', ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const child = spawn(process.execPath, [...argv, '--verbose'], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  atTestEnd(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (said += text))
  const exited = new Promise((resolve) => child.once('close', resolve))
  const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'a-client', version: '1' }
  const greeted = new Promise((resolve) => child.stdout.once('data', resolve))
  say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } })
  await greeted
  child.stdout.destroy()
  say({ method: 'notifications/initialized' })
  say({ id: 2, method: 'tools/call', params: { name: 'whoami', arguments: {} } })
  await exited
  expect(said).toContain('Returned 1 messages')
  const inbox = async () => (await gateway.call('GET', '/v1/inbox', undefined, { key: donna.key })).body.messages
  expect(await until(inbox, ([mail]) => mail.deliveryMethod === null)).toMatchObject([{ status: 'sent' }])
})
