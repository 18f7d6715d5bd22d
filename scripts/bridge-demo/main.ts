// `npm run demo:bridge`: an A2A client sends a task to @donna; Codex, at a terminal that nobody sits at, begins a turn, works it with our
// tools, and the client has the answer. Each in a network of its own, with the gateway between them, where that can be had.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { program } from '../../test/real-harnesses/programs.ts'
import { until } from '../../test/support/until.ts'
import { startChild } from './child.ts'
import { openDesk } from './desk.ts'
import { openSides, type Side } from './networks.ts'

const root = resolve(import.meta.dirname, '../..')
const rouse = [process.execPath, join(root, 'dist/main.js')]
const script = (name: string) => [process.execPath, '--import', 'tsx', resolve(import.meta.dirname, `${name}.ts`)]
const text = 'Count the words: nobody touches a keyboard here.'

const codex = program('codex')
if (codex === undefined) throw new Error('Codex cannot be had here: this demonstration needs it.')

using sides = openSides()
console.log(
  sides.why === undefined
    ? `Three networks: the client at ${sides.client.address}, the gateway at ${sides.gateway.address}, the desk at ${sides.desk.address}. The client and the desk cannot reach each other.`
    : `All on loopback, because ${sides.why}.`,
)
const dataDir = mkdtempSync(join(tmpdir(), 'rouse-demo-'))
const { PATH = '', TMPDIR = tmpdir() } = process.env
const env = { PATH, TMPDIR, HOME: dataDir }
try {
  const url = `http://${sides.gateway.address}:4520`
  const serve = ['serve', '--json', '--host', sides.gateway.address, '--port', '4520', '--grpc-port', 'off']
  const argv = [...rouse, ...serve, '--data-dir', dataDir, '--public-url', url, '--log-level', 'error']
  await using gateway = startChild(sides.gateway.argv(argv), env)
  await gateway.line('"url"')
  const adminKey = readFileSync(join(dataDir, 'admin.key'), 'utf8').trim()
  const call = callFrom(sides.gateway, url, adminKey)
  const donna = await call('POST', '/v1/agents', { handle: 'donna', displayName: 'Donna' })
  const lola = await call('POST', '/v1/agents', { handle: 'lola', displayName: 'Lola' })

  await using model = startChild(sides.desk.argv(script('model')), env, root)
  const { url: modelUrl } = JSON.parse(await model.line('"url"'))
  const profile = { url, key: donna.apiKey as string, identity: '@donna' }
  await using desk = await openDesk({ side: sides.desk, rouse, codex, model: modelUrl, profile })
  desk.startTerminal('Wait for work.')
  await model.line('"other"')
  await using bridge = await desk.startBridge()
  const [conversation] = await until(
    () => conversationsOf(desk.status()),
    (all) => all.some(({ route, state }) => route !== undefined && state !== 'active'),
  )
  console.log(`Codex ${conversation?.version ?? ''} is at its terminal. A wake would take: ${conversation?.route}.`)

  const clientEnv = { ...env, ROUSE_DEMO_KEY: lola.apiKey as string }
  await using client = startChild(
    sides.client.argv([...script('client'), `${url}/agents/donna/`, text]),
    clientEnv,
    root,
  )
  await client.line('"ready"')
  client.say('go\n')
  const answer = JSON.parse(await client.line('"answered"'))
  const prompted = async (what: string): Promise<number> => JSON.parse(await model.line(`"prompted":"${what}"`)).at
  const moments = [
    ['the client sends a task to @donna over A2A', answer.sentAt],
    ['the turn of Codex has begun: its model reads the wake', await prompted('wake')],
    ['the model has found the task with list_tasks', await prompted('found')],
    ['the task is working', await prompted('working')],
    ['the client has the answer', answer.answeredAt],
  ] as const
  const lines = moments.map(([what, at], index) => {
    const took = at - moments[Math.max(0, index - 1)]![1]
    return `${(at - answer.sentAt).toFixed(0).padStart(7)} ms  (+${took.toFixed(0).padStart(5)})  ${what}`
  })
  console.log(`\n${lines.join('\n')}\n`)
  console.log(`This Codex has no server: it looks into its queue every 10 s. With one, a turn begins at once.\n`)
  console.log(answer.said)
  const [last] = desk.status().agents[0].last
  console.log(
    `The bridge has proved: ${last.step} (${last.detail ?? ''}).\n\nThe terminal:\n${desk.screen().trimEnd()}`,
  )
  if (!/COMPLETED/.test(answer.said)) throw new Error(`The task did not end as it should: ${answer.said}`)
  void bridge
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}

interface Conversation {
  readonly route?: string
  readonly state: string
  readonly version?: string
}

function conversationsOf(status: { harnesses: { version?: string; conversations: Conversation[] }[] }): Conversation[] {
  return status.harnesses.flatMap(({ version, conversations }) => conversations.map((one) => ({ ...one, version })))
}

/** Calls the gateway from its own network. */
function callFrom(side: Side, url: string, key: string) {
  return async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
    const words = ['curl', '--silent', '--show-error', '-X', method, '-H', 'content-type: application/json', '-H', '@-']
    await using curl = startChild(side.argv([...words, '-d', JSON.stringify(body), `${url}${path}`]), env)
    curl.say(`authorization: Bearer ${key}\n`)
    curl.end()
    return JSON.parse(await curl.line('{'))
  }
}
