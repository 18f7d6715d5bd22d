import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { expect } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { storeEnv } from '../support/store.ts'
import { until } from '../support/until.ts'
import type { Run } from './run.ts'

const faults = join(import.meta.dirname, '../faults')
const certificate = join(faults, 'vouched-for/certificate.pem')
const otherCertificate = join(faults, 'self-signed/certificate.pem')

/** A gateway with TLS, what it answers, and starts that fail on what they were given for its key. */
export async function runTls(run: Run): Promise<void> {
  using directory = dataDirectory()
  const pem = readFileSync(join(faults, 'vouched-for/key.pem'), 'utf8')
  const lines = pem.split('\n').filter((line) => line.length >= 12 && !line.startsWith('-----'))
  lines.forEach((line, index) => void run.watch.secret(`line ${index + 1} of the TLS key`, line))
  expect(lines.length).toBeGreaterThan(1)
  const file = (name: string, content: string) => {
    const path = join(directory.path, name)
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }
  const key = file('tls-key.pem', pem)
  const dataDir = join(directory.path, 'data')
  const serve = ['serve', '--json', '--port', '0', '--grpc-port', '0', '--data-dir', dataDir]
  const store = await storeEnv(dataDir)
  const env = { ...store, ROUSE_HOST: 'localhost', ROUSE_LOG_LEVEL: 'debug', ROUSE_TLS_CERT: certificate }

  await using gateway = run.start(serve, { ...env, ROUSE_TLS_KEY: key })
  const url = await until(
    () => /"url":"([^"]+)"/.exec(gateway.output().stdout)?.[1],
    (found) => found !== undefined,
  )
  const adminKey = run.watch.secret(
    'the admin key of the gateway with TLS',
    readFileSync(join(dataDir, 'admin.key'), 'utf8').trim(),
  )
  for (const path of ['/v1/agents', '/readyz', '/.well-known/jwks.json', `/${encodeURIComponent(key)}`]) {
    run.watch.emit(`the answer over TLS to ${path}`, await ask(`${url}${path}`, adminKey))
  }
  gateway.kill('SIGTERM')
  await run.exit(serve, gateway)
  run.files(dataDir, /^(admin|encryption|instance)\.key|^card-signing\.jwk/)

  const bad: Record<string, string>[] = [
    { ROUSE_TLS_KEY: file('half.pem', pem.slice(0, pem.length / 2)) },
    { ROUSE_TLS_KEY: file('no-frame.pem', lines.join('\n')) },
    { ROUSE_TLS_KEY: key, ROUSE_TLS_CERT: otherCertificate },
    { ROUSE_TLS_KEY: key, ROUSE_TLS_CERT: key },
    // The key itself in the place of the name of its file.
    { ROUSE_TLS_KEY: pem },
  ]
  for (const one of bad) {
    const { code } = await run.rouse(serve, { ...env, ...one })
    expect(code).toBeGreaterThan(0)
  }
}

function ask(url: string, key: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { ca: readFileSync(certificate), agent: false, headers: { authorization: `Bearer ${key}` } }
    request(url, options, (res) => {
      let text = JSON.stringify(res.rawHeaders)
      res.setEncoding('utf8').on('data', (part) => (text += part))
      res.on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })
}
