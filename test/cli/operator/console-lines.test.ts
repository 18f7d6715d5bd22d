import { expect, test } from 'vitest'
import { logConsole } from '../../../src/cli/operator/serve.ts'
import { silentLogger } from '../../../src/logger/logger.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { runRouse, startProcessGateway } from '../../support/process-gateway.ts'
import { until } from '../../support/until.ts'

const forged = '{"level":50,"time":1,"msg":"FORGED admin login"}'

/** A push config of v0.3 with two schemes: the SDK warns that it keeps the first one, with the text of both. */
const forging = (scheme: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'message/send',
  params: {
    message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] },
    configuration: {
      pushNotificationConfig: { url: 'http://127.0.0.1:9/', authentication: { schemes: ['Bearer', scheme] } },
    },
  },
})

test.each(['debug', 'warn'])('no client writes a line of the log (level %s)', async (level) => {
  await using gateway = await startProcessGateway({ ROUSE_LOG_LEVEL: level })
  const donna = await gateway.addAgent('@donna')
  for (const scheme of [`x\n${forged}\n`, '\u202e']) {
    await fetch(`http://127.0.0.1:${gateway.port}/agents/donna`, {
      method: 'POST',
      headers: { authorization: `Bearer ${donna.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(forging(scheme)),
    })
  }
  const { stderr } = await gateway.kill('SIGTERM')
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'))
  const printed = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'console.printed')
  expect(lines.map((line) => JSON.parse(line).msg)).not.toContain('FORGED admin login')
  expect(stderr.split('\n').filter((line) => line.startsWith(forged))).toEqual([])
  expect(printed.length > 0).toBe(level === 'debug')
  for (const { text } of printed) expect(text).toMatch(/Multiple schemes declared \(Bearer, (x\\u\{a\}\{|\\u\{202e\})/)
})

test('each output of a library becomes one line of bounded length', () => {
  const lines: [string, { text: string }][] = []
  const note = (fields: object, event: string) => void lines.push([event, fields as { text: string }])
  const console = { error() {}, warn() {}, log() {}, info() {}, debug() {}, trace() {} }
  logConsole(console, { ...silentLogger, warn: note, debug: note })
  const print: Record<string, (...values: unknown[]) => void> = console
  print.error?.('failed: %s', 'a\r\nb\u2028c\u202ed\ud800\u0000', new Error('with\na stack'))
  print.warn?.('x'.repeat(100_000))
  expect(lines.map(([event]) => event)).toEqual(['console.printed', 'console.printed'])
  const [first, second] = lines.map(([, { text }]) => text)
  expect(first).toMatch(
    /^failed: a\\u\{d\}\\u\{a\}b\\u\{2028\}c\\u\{202e\}d\ufffd\\u\{0\} Error: with\\u\{a\}a stack\\u\{a\} /,
  )
  expect(first).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  expect(second?.length).toBeLessThan(2_010)
})

test('serve warns of a port beyond loopback without TLS, as a line for people and as one for machines', async () => {
  using directory = dataDirectory()
  const places = [
    '--host',
    '0.0.0.0',
    '--public-url',
    'http://localhost:4520',
    '--port',
    '0',
    '--grpc-port',
    'off',
    '--data-dir',
    directory.path,
  ]
  await using child = runRouse(['serve', '--json', ...places])
  await until(child.output, ({ stdout }) => stdout.includes('"url"'), 30_000)
  child.kill('SIGTERM')
  const { stdout, stderr } = await child.exited
  expect(JSON.parse(stdout).warnings).toEqual([expect.stringMatching(/in plain text .*ROUSE_TLS_CERT/)])
  expect(stderr).toContain('"msg":"gateway.exposed"')
})
