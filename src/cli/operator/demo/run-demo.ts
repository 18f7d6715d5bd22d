import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Config, envToConfig } from '../../../config/config.ts'
import { createApp, type Gateway } from '../../../gateway/app.ts'
import { untilAborted } from '../../../lib/until-aborted.ts'
import { type Harness, startHarness } from './harness-process.ts'
import { connectPeer, type Peer } from './peer.ts'
import { Story } from './story.ts'

interface DemoOptions {
  /** Prints one line. */
  print: (text: string) => void
  /** The port of the demo's gateway (default: 4520, or any free port if that is in use). */
  port?: number
  /** End after the demo instead of running until Ctrl-C. */
  exit?: boolean
  signal?: AbortSignal
}

const early = 'Count these words when you are back.'
const request = 'Count the words of this sentence, please.'

/** The main job on real parts: a gateway, a harness in a process of its own, and the A2A SDK's client as the peer. */
export async function runDemo({ print, port, exit, signal }: DemoOptions): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'rouse-demo-'))
  let gateway: Gateway | undefined
  let harness: Harness | undefined
  try {
    const story = new Story(print)
    const started = await startGateway(dataDir, port)
    gateway = started.gateway
    story.tell('gateway', `listens at ${started.url}, data in ${dataDir}`)
    const agents = await registerAgents(started.url, gateway.adminKey)
    story.tell('gateway', 'registered @donna, a harness that will be woken, and @lola, a peer')
    const peer = await connectPeer(`${started.url}/agents/donna/`, agents.lola, story)
    await peer.leave(early)
    harness = await startHarness(started.url, agents.donna, story)
    await harness.heard('completed', 1)
    // The first second of a subscription is for the answer that has its signing key: a wake waits.
    await setTimeout(1_000)
    await tellMainJob(story, peer, harness)
    if (exit) return
    for (const line of whatNext(started.url, dataDir)) print(line)
    await untilAborted(signal)
  } finally {
    await harness?.stop()
    await gateway?.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function tellMainJob(story: Story, peer: Peer, harness: Harness): Promise<void> {
  const result = await peer.ask(request)
  await harness.heard('completed', 2)
  const woken = harness.momentOf('woken', 'Submitted')
  if (woken === undefined) throw new Error('The task was answered but the harness was never woken.')
  story.summarise([
    'sent while no harness was there: the task waited, came with the answer to its start, and was completed',
    `from the peer's SendMessage to the harness being woken: ${(woken - result.sentAt).toFixed(1)} ms`,
    `from SendMessage to the answer, submitted → working → completed: ${(result.answeredAt - result.sentAt).toFixed(1)} ms`,
  ])
}

async function startGateway(dataDir: string, port: number | undefined): Promise<{ gateway: Gateway; url: string }> {
  const config = (listenOn: number): Config =>
    envToConfig({
      ROUSE_DATA_DIR: dataDir,
      ROUSE_PORT: String(listenOn),
      ROUSE_GRPC_PORT: '0',
      ROUSE_LOG_LEVEL: 'error',
    })
  const first = createApp(config(port ?? 4520))
  try {
    return { gateway: first, url: (await first.start()).url }
  } catch (error) {
    if (port !== undefined || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    const second = createApp(config(0))
    return { gateway: second, url: (await second.start()).url }
  }
}

async function registerAgents(url: string, adminKey: string): Promise<{ donna: string; lola: string }> {
  const register = async (agent: object): Promise<string> => {
    const response = await fetch(`${url}/v1/agents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(agent),
    })
    if (!response.ok) throw new Error(`Registering failed: ${await response.text()}`)
    return ((await response.json()) as { apiKey: string }).apiKey
  }
  const skills = [{ id: 'count', name: 'Count words', description: 'Counts the words of a text', tags: ['text'] }]
  const donna = await register({ handle: 'donna', displayName: 'Donna', description: 'A demo harness', skills })
  return { donna, lola: await register({ handle: 'lola', displayName: 'Lola' }) }
}

function whatNext(url: string, dataDir: string): string[] {
  const rouse = `ROUSE_URL=${url} ROUSE_DATA_DIR=${dataDir} npx rouse`
  return [
    '',
    'The gateway and the harness stay up until Ctrl-C. In another terminal:',
    `  ${rouse} send @donna "how many words are these" --wait`,
    `  ${rouse} task list`,
    `  ${rouse} sub list`,
    `  ${rouse} tail --follow`,
    `  curl ${url}/agents/donna/.well-known/agent-card.json`,
    'examples/harness.mjs is the whole harness: copy it, and put your own work in its place.',
  ]
}
