import { expect, test } from 'vitest'
import { envToConfig } from '../../src/config/config.ts'
import { exposureWarnings } from '../../src/fronts/exposure.ts'

const files = { ROUSE_TLS_CERT: '/cert.pem', ROUSE_TLS_KEY: '/key.pem' }
const open = { ROUSE_HOST: '0.0.0.0' }
const behind = { ROUSE_PUBLIC_URL: 'https://rouse.example' }
const proxied = { ...behind, ROUSE_TRUSTED_PROXIES: '10.45.20.0/24' }
const none = { ROUSE_WEBHOOK_ALLOW: 'none' }

const plainText = /listens beyond this machine in plain text .*ROUSE_TLS_CERT.*ROUSE_PUBLIC_URL/
const roundTls = /in plain text .*goes round TLS.*ROUSE_TRUSTED_PROXIES.*ROUSE_TLS_CERT/
const plainGrpc = /advertise gRPC in plain text.*ROUSE_GRPC_PUBLIC_TARGET/
const plainCards = /cards advertise http:\/\/rouse\.example.*ROUSE_PUBLIC_URL/
const loopbackOpen = /reach services of this machine \(ROUSE_WEBHOOK_ALLOW\)/

test.each<[string, Record<string, string>, RegExp[]]>([
  ['on loopback', {}, []],
  ['on loopback, advertised as such', { ROUSE_PUBLIC_URL: 'http://localhost:8080' }, []],
  ['beyond loopback', open, [plainText]],
  ['beyond loopback, on one address', { ROUSE_HOST: '10.0.0.1' }, [plainText]],
  ['beyond loopback, with TLS', { ...open, ...files }, []],
  ['beyond loopback, behind https', { ...open, ...behind }, [roundTls, plainGrpc]],
  ['beyond loopback, behind https, without gRPC', { ...open, ...behind, ROUSE_GRPC_PORT: 'off' }, [roundTls]],
  ['beyond loopback, behind a proxy', { ...open, ...proxied }, [plainGrpc]],
  ['beyond loopback, all behind a proxy', { ...open, ...proxied, ROUSE_GRPC_PUBLIC_TARGET: 'rouse.example:443' }, []],
  [
    'beyond loopback, behind a proxy, advertised as http',
    { ...open, ROUSE_TRUSTED_PROXIES: '10.45.20.1' },
    [plainText],
  ],
  ['beyond loopback, behind https, with TLS', { ...open, ...files, ...behind }, []],
  ['on loopback, behind https', { ...none, ...behind }, []],
  ['on loopback, behind http', { ...none, ROUSE_PUBLIC_URL: 'http://rouse.example' }, [plainCards]],
  ['with TLS, advertised as http', { ...open, ...files, ROUSE_PUBLIC_URL: 'http://rouse.example' }, [plainCards]],
  ['webhooks to loopback, behind https', { ...behind, ROUSE_WEBHOOK_ALLOW: '127.0.0.0/8' }, [loopbackOpen]],
  ['webhooks to nowhere inside, behind https', { ...behind, ...none }, []],
])('%s', (_what, env, expected) => {
  const config = envToConfig(env)
  const warnings = exposureWarnings({ ...config, hasTls: config.tls !== undefined, url: 'http://0.0.0.0:4520' })
  expect(warnings).toHaveLength(expected.length)
  for (const [i, pattern] of expected.entries()) expect(warnings[i]).toMatch(pattern)
})
