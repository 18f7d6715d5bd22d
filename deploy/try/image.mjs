import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildStage, copyContext, readDockerfile } from './dockerfile.mjs'

/** The capabilities that Docker leaves to root while it builds. */
const buildCaps = ['chown', 'dac_override', 'fowner', 'fsetid', 'setgid', 'setuid']
/** Users that the official images have. */
const users = { root: 0, node: 1000, nginx: 101, postgres: 999 }

/** This machine in the place of a base image: its files, with the users that the images have and a host file. */
export function createBase(directory, hosts) {
  const etc = join(directory, 'base/etc')
  mkdirSync(etc, { recursive: true })
  const lines = (write) =>
    Object.entries(users)
      .map(([name, id]) => `${write(name, id)}\n`)
      .join('')
  writeFileSync(
    join(etc, 'passwd'),
    lines((name, id) => `${name}:x:${id}:${id}::/tmp:/bin/sh`),
  )
  writeFileSync(
    join(etc, 'group'),
    lines((name, id) => `${name}:x:${id}:`),
  )
  writeFileSync(join(etc, 'hosts'), `127.0.0.1 localhost\n${hosts}`)
  // Where an engine mounts secrets.
  mkdirSync(join(directory, 'base/run/secrets'), { recursive: true })
  return join(directory, 'base')
}

/** Runs the steps of the Dockerfile, as they stand in it, in a clean copy of what it is given. Answers the last stage. */
export async function buildImage(repository, directory, base, boxes, say) {
  const context = copyContext(repository, join(directory, 'context'))
  const layerOf = (stage) => join(directory, 'stages', stage)
  const stages = readDockerfile(readFileSync(join(repository, 'Dockerfile'), 'utf8'))
  let image
  for (const stage of stages) {
    mkdirSync(layerOf(stage.name), { recursive: true })
    const run = async (script, { workdir, env, user }) => {
      const started = Date.now()
      const box = await boxes.start({
        layers: [base],
        writable: layerOf(stage.name),
        workdir,
        user,
        caps: user === 'root' ? buildCaps : [],
        env: { ...forwarded(), ...env, HOME: '/tmp' },
        argv: ['/bin/sh', '-c', script],
        log: join(directory, 'build.log'),
      })
      const { code } = await box.ended
      if (code !== 0)
        throw new Error(
          `RUN ${script} ended with ${code}:\n${readFileSync(join(directory, 'build.log'), 'utf8').slice(-4000)}`,
        )
      say(`built  ${stage.name}: RUN ${script} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
    }
    image = { ...(await buildStage(stage, context, { run, layerOf })), layers: [layerOf(stage.name), base] }
  }
  return image
}

/** Settings with which this machine reaches its registry. */
function forwarded() {
  const names = [
    'NODE_EXTRA_CA_CERTS',
    'SSL_CERT_FILE',
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'https_proxy',
    'no_proxy',
  ]
  const known = names.filter((name) => process.env[name]).map((name) => [name, process.env[name]])
  return Object.fromEntries(known)
}
