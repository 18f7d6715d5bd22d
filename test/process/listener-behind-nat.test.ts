import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atTestEnd } from '../support/ends.ts'
import { type Network, rouseArgv, twoNetworks, whyNoNetworks } from '../support/two-networks.ts'
import { until } from '../support/until.ts'

const port = 4520
const listenerPort = 8080
const reason = whyNoNetworks()
if (reason) console.warn(`Skipped: a listener that nobody can reach. ${reason}.`)

async function printed(network: Network, argv: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { exited, output } = network.run(argv, env)
  expect(await exited, `${argv.join(' ')}: ${output().stderr}`).toBe(0)
  return output().stdout
}

// The gateway answers what the listener opens, and could not open anything itself.
test.skipIf(reason !== undefined)(
  '`rouse listen --exec` in a network that the gateway cannot reach is woken',
  async () => {
    const { outside, inside } = twoNetworks(port)
    const dataDir = mkdtempSync(join(tmpdir(), 'rouse-nat-'))
    atTestEnd(() => rmSync(dataDir, { recursive: true, force: true }))
    const url = `http://${outside.address}:${port}`
    const serve = ['serve', '--json', '--host', outside.address, '--port', String(port), '--grpc-port', 'off']
    const gateway = outside.run(rouseArgv(...serve, '--data-dir', dataDir, '--public-url', url))
    await until(gateway.output, ({ stdout, stderr }) => {
      if (stderr.includes('"error"')) throw new Error(stderr)
      return stdout.includes('"url"')
    })
    const operator = { ROUSE_URL: url, ROUSE_KEY: readFileSync(join(dataDir, 'admin.key'), 'utf8').trim() }
    const keyFile = join(dataDir, 'donna.key')
    await printed(inside, rouseArgv('agent', 'add', 'donna', '--save-key', keyFile), operator)

    const web = `require('node:http').createServer((_, res) => res.end('here')).listen(${listenerPort}, () => console.log('up'))`
    const hook = inside.run([process.execPath, '-e', web])
    await until(hook.output, ({ stdout }) => stdout.includes('up'))
    const curl = ['curl', '--silent', '--show-error', '--max-time', '5', `http://${inside.address}:${listenerPort}/`]
    expect(await printed(inside, curl)).toBe('here')
    const refused = outside.run(curl)
    expect(await refused.exited, refused.output().stdout).not.toBe(0)
    expect(refused.output().stderr).toMatch(/curl: \((7|28)\)/)

    const agent = { ROUSE_URL: url, ROUSE_KEY_FILE: keyFile, ROUSE_COMMAND: rouseArgv().join(' ') }
    const listener = inside.run(rouseArgv('listen', '--exec', './examples/on-wake.sh'), agent)
    await until(listener.output, ({ stderr }) => stderr.includes('Listening to'))
    const answer = await printed(
      inside,
      rouseArgv('send', 'donna', 'four words from outside', '--wait', '--json'),
      operator,
    )
    expect(JSON.parse(answer).task).toMatchObject({ artifacts: [{ parts: [{ text: '4 words' }] }] })
    listener.kill('SIGINT')
    expect(await listener.exited).toBe(130)
  },
)
