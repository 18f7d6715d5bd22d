import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { secretVariables, withSecretFiles } from '../../src/client/secret-files.ts'
import { envToConfig } from '../../src/config/config.ts'
import { dataDirectory } from '../support/data-directory.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const dockerfile = read('Dockerfile')
const compose = read('compose.yaml')
const example = read('deploy/.env.example')

/** The lines of one service or anchor, up to the next one of its depth. */
function block(name: string): string {
  const lines = compose.split('\n')
  const start = lines.findIndex((line) => new RegExp(`^( {2})?${name}:( &\\w+)?$`).test(line))
  const depth = lines[start]!.search(/\S/)
  const end = lines.findIndex((line, i) => i > start && line.trim() !== '' && line.search(/\S/) <= depth)
  return lines.slice(start, end === -1 ? undefined : end).join('\n')
}

const services = ['gateway-a', 'gateway-b', 'postgres', 'redis', 'proxy']

/** Makes the secrets as an operator does, in a directory of the test's own. */
function makeSecrets() {
  const directory = dataDirectory()
  const path = join(directory.path, 'secrets')
  const make = () => execFileSync('sh', [join(root, 'deploy/make-secrets.sh'), path])
  make()
  return {
    path,
    make,
    of: (name: string) => readFileSync(join(path, name), 'utf8').trim(),
    [Symbol.dispose]: directory[Symbol.dispose],
  }
}

test('a build gets only the files that the Dockerfile copies', () => {
  const ignore = read('.dockerignore')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) => names!.split(' '))
  expect(ignore[0]).toBe('*')
  expect(ignore.slice(1).sort()).toEqual([...new Set(copied)].map((name) => `!${name}`).sort())
})

test('the image runs without privileges, on a maintained Node, and has no secret', () => {
  expect(dockerfile.match(/^USER .+$/gm)).toEqual(['USER node'])
  expect(dockerfile).not.toMatch(/_KEY|PASSWORD|DATABASE_URL/)
  const bases = [...dockerfile.matchAll(/^ARG \w+=node:(\d+)-bookworm-slim$/gm)].map(([, major]) => Number(major))
  expect(bases).toEqual([24])
  const stages = [...dockerfile.matchAll(/^FROM \$\{(\w+)\} AS (\w+)$/gm)].map(([, base, name]) => [base, name])
  expect(stages).toEqual([
    ['NODE', 'packages'],
    ['NODE', 'build'],
    ['NODE', 'gateway'],
  ])
})

test('a digest can be named for every image without a change of a file, and the defaults are the same everywhere', () => {
  const defaults = (pattern: RegExp, text: string) =>
    Object.fromEntries([...text.matchAll(pattern)].map(([, ...of]) => of))
  const args = defaults(/^ARG (\w+)=(\S+)$/gm, dockerfile)
  // Before the first stage: only there does a FROM read them.
  for (const arg of Object.keys(args)) {
    expect(dockerfile.indexOf(`\nARG ${arg}=`)).toBeLessThan(dockerfile.indexOf('\nFROM '))
  }
  for (const [, base] of dockerfile.matchAll(/^FROM (\S+)/gm)) expect(Object.keys(args)).toContain(base!.slice(2, -1))
  const passed = [...block('x-gateway').matchAll(/^ {6}(\w+): \$\{(\w+):-(\S+)\}$/gm)]
  expect(Object.fromEntries(passed.map(([, arg, , image]) => [arg, image]))).toEqual(args)

  const images = [...compose.matchAll(/^ +image: (\S+)$/gm)].map(([, image]) => image!)
  const given = [...passed.map(([, , name, image]) => [name, image])]
  for (const image of images.filter((image) => image !== 'rouse')) {
    const [, name, tag] = /^\$\{(\w+_IMAGE):-([\w-]+:[\w.-]+)\}$/.exec(image) ?? []
    given.push([name, tag])
  }
  expect(Object.fromEntries(given)).toEqual(defaults(/^(\w+_IMAGE)=(\S+)$/gm, example))
})

test('the trial of a deployment accepts an image with a digest', async () => {
  const { checkCompose } = await import('../../deploy/try/compose.mjs')
  const wrongOf = (image: string) =>
    checkCompose({ services: { proxy: { image, ports: [] } } }, { nginx: '', exposed: [] }) as string[]
  const digest = `sha256:${'0a'.repeat(32)}`
  for (const image of ['nginx:1.28', `nginx:1.28@${digest}`, `nginx@${digest}`]) expect(wrongOf(image)).toEqual([])
  for (const image of [`nginx:1.28@${digest.slice(0, -1)}`, 'nginx:1.28@']) expect(wrongOf(image)).toHaveLength(1)
})

test('every container is without privileges, read-only and bounded', () => {
  expect(block('x-hardened')).toMatch(/read_only: true[\s\S]*cap_drop:\s+- ALL[\s\S]*no-new-privileges:true/)
  for (const name of services) {
    const isGateway = name.startsWith('gateway')
    const service = isGateway ? block('x-gateway') : block(name)
    expect(service, name).toContain('<<: *hardened')
    expect(service, name).toMatch(/^ +mem_limit: \d+[mg]$/m)
    expect(service, name).toMatch(/^ +pids_limit: \d+$/m)
    if (!isGateway) expect(service, name).toMatch(/^ +user: "\d+:\d+"$/m)
    else expect(block(name)).toContain('<<: *gateway')
  }
  // A tmpfs without a size is all the memory of the machine.
  const mounts = [...compose.matchAll(/^ +- (\/\S*)$/gm)].map(([, mount]) => mount!)
  expect(mounts.length).toBeGreaterThan(2)
  for (const mount of mounts) expect(mount).toMatch(/^\/[\w/]+:size=\d+m/)
})

test('the store and the bus are reached by the gateways only', () => {
  expect(block('store')).toContain('internal: true')
  for (const name of ['postgres', 'redis']) {
    expect(block(name)).not.toContain('ports:')
    expect(
      block(name)
        .match(/networks:\n((?: +- .+\n)+)/)?.[1]
        ?.trim(),
    ).toBe('- store')
  }
  expect(block('proxy')).not.toContain('- store')
  expect(block('redis')).toMatch(/requirepass .*\/run\/secrets\/redis_password/)
})

test('the gateways know the clients of the proxy by their addresses', () => {
  const subnet = 'PROXY_SUBNET:-10.45.20.0/24'
  expect(block('x-gateway')).toContain(`ROUSE_TRUSTED_PROXIES: \${${subnet}}\n`)
  expect(block('outside')).toContain(`- subnet: \${${subnet}}`)
  for (const name of ['proxy', 'x-gateway']) expect(block(name)).toMatch(/networks:\n +- outside\n/)
  // Only what the proxy writes may be trusted, so what a client sends is replaced.
  for (const set of ['proxy_set_header', 'grpc_set_header']) {
    expect(read('deploy/nginx.conf')).toContain(`${set} X-Forwarded-For $remote_addr;`)
  }
})

test('no secret is in the environment or on a command line', () => {
  expect(compose).not.toMatch(/\$\{\w*(KEY|PASSWORD|SECRET)\w*[:}]/)
  expect(example).not.toMatch(/(KEY|PASSWORD|SECRET)\w*=/)
  const files = [...compose.matchAll(/file: deploy\/secrets\/(\w+)/g)].map(([, name]) => name!)
  using secrets = makeSecrets()
  expect(readdirSync(secrets.path).sort()).toEqual([...files].sort())
  for (const [, name] of compose.matchAll(/\/run\/secrets\/(\w+)/g)) expect(files).toContain(name)
  expect(read('.gitignore')).toContain('deploy/secrets/')
  expect(statSync(secrets.path).mode & 0o777).toBe(0o700)
})

test('making the secrets again keeps the existing ones', () => {
  using secrets = makeSecrets()
  const before = readdirSync(secrets.path).map(secrets.of)
  secrets.make()
  expect(readdirSync(secrets.path).map(secrets.of)).toEqual(before)
  expect(new Set(before).size).toBe(before.length)
})

test('the example names every variable of compose.yaml', () => {
  const used = new Set([...compose.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!))
  const named = [...example.matchAll(/^(\w+)=(.*)$/gm)]
  expect(named.map(([, name]) => name!).sort()).toEqual([...used].sort())
})

test('the environment of the gateways is a valid configuration', () => {
  using secrets = makeSecrets()
  const given = Object.fromEntries([...example.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]))
  given.ROUSE_BUS_URL_FILE = '/run/secrets/bus_url'
  const lines = [...block('x-gateway').matchAll(/^ {4}(ROUSE_\w+): "?(.*?)"?$/gm)].map(([, name, value]) => [
    name,
    value!
      .replace(/\$\{(\w+)[^}]*\}/g, (_all, variable: string) => given[variable]!)
      .replace('/run/secrets', secrets.path),
  ])
  const config = envToConfig(withSecretFiles(Object.fromEntries(lines)))
  expect(config).toMatchObject({
    databaseUrl: `postgres://rouse:${secrets.of('postgres_password')}@postgres:5432/rouse`,
    busUrl: `redis://:${secrets.of('redis_password')}@redis:6379`,
    adminKeys: [secrets.of('admin_key')],
    encryptionKeys: [secrets.of('encryption_key')],
    connections: { perAddress: 0 },
    trustedProxies: ['10.45.20.0/24'],
  })
  // A proxy is nothing that every deployment has.
  const needed = secretVariables.filter((name) => name !== 'ROUSE_WEBHOOK_PROXY')
  expect(lines.map(([name]) => name)).toEqual(expect.arrayContaining(needed.map((name) => `${name}_FILE`)))
})

test('the image, the store and the bus have health checks, and what needs them waits for them', () => {
  expect(dockerfile).toContain(
    'HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "dist/main.js", "health"]',
  )
  for (const name of ['postgres', 'redis']) expect(block(name)).toContain('healthcheck:')
  for (const name of ['x-gateway', 'proxy']) expect(block(name)).toContain('condition: service_healthy')
})
