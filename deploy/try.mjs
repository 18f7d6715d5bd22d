#!/usr/bin/env node
// Tries the Dockerfile, compose.yaml and nginx.conf where no container engine runs: builds the image by the Dockerfile's own
// steps, starts what compose.yaml names with its own environment, and lets an A2A client talk through the proxy while a
// gateway is killed.   node deploy/try.mjs   (Linux, root; nginx, iproute2, util-linux, python3 with PyYAML)
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Boxes } from './try/box.mjs'
import { checkCompose, readCompose, readVariables } from './try/compose.mjs'
import { readDockerfile } from './try/dockerfile.mjs'
import { execute } from './try/execute.mjs'
import { buildImage, createBase } from './try/image.mjs'
import { makeSecrets } from './try/secrets.mjs'
import { listens, startGateway, startPostgres, startProxy, until } from './try/services.mjs'

const repository = fileURLToPath(new URL('..', import.meta.url))
const directory = process.env.ROUSE_TRY_DIRECTORY
if (directory === undefined) process.exit(await runInside())
process.exit(await tryAll())

/** Again in namespaces of its own: when it ends, its processes, mounts and networks end with it, however it ends. */
async function runInside() {
  if (Number(process.versions.napi) < 10)
    throw new Error('The image is made for Node 22.14 or newer: run it with that.')
  if (process.getuid() !== 0) throw new Error('This makes namespaces and mounts: run it as root.')
  const directory = mkdtempSync(join(tmpdir(), 'rouse-try-'))
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  const child = spawn('unshare', [...namespaces, process.execPath, fileURLToPath(import.meta.url)], {
    stdio: 'inherit',
    env: { ...process.env, ROUSE_TRY_DIRECTORY: directory },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill('SIGKILL'))
  const code = await new Promise((resolve) => child.once('close', resolve))
  rmSync(directory, { recursive: true, force: true })
  return code ?? 1
}

async function tryAll() {
  const started = Date.now()
  const say = (text) => console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}`)
  try {
    await execute('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', directory])
    await run(say)
    say('done: everything held')
    return 0
  } catch (error) {
    console.error(error)
    for (const log of readdirSync(directory).filter((name) => name.endsWith('.log'))) {
      console.error(`--- ${log}\n${readFileSync(join(directory, log), 'utf8').slice(-2000)}`)
    }
    return 1
  }
}

async function run(say) {
  const boxes = new Boxes(directory)
  const compose = readCompose(join(repository, 'compose.yaml'), variables('10.88.0.0/24'))
  const exposed = readDockerfile(readFileSync(join(repository, 'Dockerfile'), 'utf8'))
    .at(-1)
    .steps.filter(({ op }) => op === 'EXPOSE')
    .flatMap(({ rest }) => rest.split(/\s+/))
  const wrong = checkCompose(compose, { nginx: readFileSync(join(repository, 'deploy/nginx.conf'), 'utf8'), exposed })
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
  say(`read   compose.yaml: ${Object.keys(compose.services).join(', ')}`)

  const { services } = compose
  const names = ['gateway-a', 'gateway-b', 'postgres', 'proxy']
  for (const name of names) boxes.addressOf(name)
  const base = createBase(directory, boxes.hosts)
  const image = await buildImage(repository, directory, base, boxes, say)

  const secrets = await makeSecrets(repository, join(directory, 'secrets'))
  const world = { boxes, directory, repository, secrets }
  const postgres = await startPostgres('postgres', services.postgres, base, world)
  await until('postgres listens', postgres, () => listens(postgres, 5432))
  const start = (name) => startGateway(name, services[name], image, world)
  // Both at once: both migrate.
  const gateways = await Promise.all(['gateway-a', 'gateway-b'].map(start))
  for (const gateway of gateways) await until(`${gateway.name} is healthy`, gateway, gateway.check)
  say(`up     postgres and two gateways, healthy by the image's own check, as ${image.user} on a read-only root`)
  if (!existsSync('/usr/sbin/nginx')) throw new Error('nginx is not installed: apt-get install nginx-light')
  const proxy = await startProxy('proxy', services.proxy, base, world)
  await until('the proxy listens', proxy, () => listens(proxy, 8080))
  say('up     nginx with deploy/nginx.conf')

  await tellStory(boxes, proxy, services, {
    say,
    adminKey: secrets.of('admin_key'),
    kill: async () => {
      gateways[0].kill('SIGKILL')
      await gateways[0].ended
      say('killed gateway-a with SIGKILL')
    },
  })

  gateways[0] = await start('gateway-a')
  await until('gateway-a is healthy again', gateways[0], gateways[0].check)
  say('up     gateway-a again')
  for (const gateway of gateways) gateway.kill('SIGTERM')
  for (const { name, ended } of gateways) {
    const { code } = await ended
    if (code !== 0) throw new Error(`${name} ended with ${code} on SIGTERM.`)
  }
  say('ended  both gateways with 0 on SIGTERM')
}

/** The settings that an operator puts into .env, from the example. Harnesses are in the boxes' network here. */
function variables(network) {
  const given = readVariables(join(repository, 'deploy/.env.example'))
  return { ...given, ROUSE_WEBHOOK_ALLOW: network, PROXY_SUBNET: network }
}

/** The client is where the proxy's ports are published: on its localhost. */
async function tellStory(boxes, proxy, services, { say, kill, adminKey }) {
  const { ROUSE_PUBLIC_URL } = services['gateway-a'].environment
  const child = boxes.beside(proxy, [process.execPath, join(repository, 'deploy/try/story.mjs')], {
    env: {
      PATH: process.env.PATH,
      ROUSE_URL: ROUSE_PUBLIC_URL,
      ROUSE_ADMIN_KEY: adminKey,
      HARNESS_ADDRESS: boxes.addressOf('proxy'),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== 'KILL') {
      say(`client ${line}`)
      continue
    }
    await kill()
    child.stdin.write('killed\n')
  }
  const code = await ended
  if (code !== 0) throw new Error(`The client ended with ${code}.`)
}
