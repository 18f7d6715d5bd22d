import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { SendMessageRequest, SubscribeToTaskRequest } from '@a2a-js/sdk'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { resetCalls } from '../support/reset-calls.ts'
import {
  type Attack,
  addArtifact,
  call,
  forever,
  headOf,
  open,
  pause,
  send,
  sendMail,
  subscribeMany,
  type Target,
} from './calls.ts'
import { mcpAttack } from './mcp-attack.ts'

/** A text that fills a body. */
const largest = 'x'.repeat(1_000_000)

/** One agent with a key each, bad in a way of its own. */
export const attacks = {
  /** Takes processor time beside the others, and shows the effect of the machine alone. */
  burns: async (_target, ready) => {
    ready()
    await forever(1, async () => {
      const until = performance.now() + 10
      while (performance.now() < until);
    })
  },
  floods: async (target, ready) => {
    ready()
    await forever(64, (index) => (index % 2 ? call(target, 'GET', '/v1/agents') : send(target, 'flood')))
  },
  /** Thousands of nested brackets, more values than a body may have, and nearly as many as it may have. */
  nests: async (target, ready) => {
    const data = (text: string) => `{"artifact":{"parts":[{"data":${text}}]}}`
    const wide = (count: number) => data(`[${'{},'.repeat(count)}{}]`)
    const bodies = [data('['.repeat(4_000) + ']'.repeat(4_000)), wide(340_000), wide(19_900)]
    const task = await send(target, 'nest')
    ready()
    await forever(8, (index) => call(target, 'POST', `/v1/tasks/${task}/artifacts`, bodies[index % 3]!))
  },
  hangs: async (target, ready) => {
    const silent = await listen(createServer((socket) => socket.on('error', () => {})))
    const ids = await subscribeMany(target, 20, () => silent)
    ready()
    await Promise.all([
      forever(100, (index) => call(target, 'POST', `/v1/wake-subscriptions/${ids[index % ids.length]}/test`)),
      forever(100, () => send(target, 'wait for me', {})),
    ])
  },
  drips: async (target, ready) => {
    const fields = ['Content-Type: application/json', 'Content-Length: 1000000']
    const heads = ['GET /v1/agents HTTP/1.1\r\nX-Drip: ', `${headOf(target, 'POST /v1/messages', ...fields)}{"a":"`]
    const sockets = Array.from({ length: 600 }, (_, index) => open(target.url, heads[index % 2]))
    ready()
    await forever(1, async () => {
      for (const socket of sockets) if (socket.writable) socket.write('x')
      await pause(200)
    })
  },
  idles: async (target, ready) => {
    for (let count = 0; count < 10_000; count++) {
      open(target.url)
      if (count % 100 === 0) await pause(10)
    }
    const fields = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`
    ready()
    await forever(50, async () => {
      const socket = open(target.url, headOf(target, 'POST /v1/messages', ...fields))
      for (; socket.writable; await pause(20)) if (socket.writableLength === 0) socket.write(chunk)
      await pause(20)
    })
  },
  streams: async (target, ready) => {
    const head = headOf(target, 'GET /v1/events', 'Accept: text/event-stream')
    for (let count = 0; count < 3_000; count++) {
      open(target.url, head).pause()
      if (count % 50 === 0) await pause(20)
    }
    const task = await send(target, 'watched')
    const { path, requestSerialize } = A2AService.subscribeToTask
    const bytes = requestSerialize(SubscribeToTaskRequest.fromJSON({ tenant: `agents/${target.handle}`, id: task }))
    const client = grpcClient(target)
    for (let count = 0; count < 300; count++) {
      const stream = client.makeServerStreamRequest(path, same, same, bytes, keyOf(target))
      stream.on('error', () => {}).pause()
    }
    ready()
    await forever(1, async () => {
      await send(target, 'x'.repeat(1_000))
      await pause(20)
    })
  },
  subscribes: async (target, ready) => {
    const silent = () => listen(createServer((socket) => socket.on('error', () => {})))
    const receivers = await Promise.all(Array.from({ length: 150 }, silent))
    await subscribeMany(target, 1_500, (index) => receivers[index % receivers.length]!)
    ready()
    await forever(1, async () => {
      await sendMail(target)
      await pause(100)
    })
  },
  wakes: async (target, ready) => {
    const receiver = await listen(createHttpServer((req, res) => req.resume() && res.writeHead(204).end()))
    await subscribeMany(target, 500, () => receiver, { more: { includeOwn: true } })
    ready()
    await forever(1, async () => {
      await send(target, 'wake all')
      await pause(20)
    })
  },
  changes: async (target, ready) => {
    ready()
    await forever(16, async (index) => {
      const ref = `ref-${index}`
      if (index % 2) return call(target, 'PATCH', `/v1/agents/${target.handle}`, { description: ref })
      await call(target, 'POST', '/v1/claims', { ref })
      return call(target, 'DELETE', `/v1/claims?ref=${ref}`)
    })
  },
  guesses: async (target, ready) => {
    ready()
    await forever(64, (index) => {
      const key = `${target.key.slice(0, -8)}${String(index).padStart(8, '0')}`
      return call({ ...target, key }, 'GET', '/v1/agents')
    })
  },
  names: async (target, ready) => {
    const ids = await subscribeMany(target, 100, (index) => `http://h${index}.slow-dns.example/`)
    ready()
    await Promise.all([
      forever(40, (index) => call(target, 'POST', `/v1/wake-subscriptions/${ids[index % ids.length]}/test`)),
      forever(1, () => Promise.all([sendMail(target), pause(200)])),
    ])
  },
  largest: async (target, ready) => {
    const task = await send(target, 'large')
    const { path, requestSerialize } = A2AService.sendMessage
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: largest }] }
    const bytes = requestSerialize(SendMessageRequest.fromJSON({ tenant: `agents/${target.handle}`, message }))
    const client = grpcClient(target)
    const taggedConcepts = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(200, 'c'))
    const acts = [
      () => send(target, largest),
      () => sendMail(target, { body: 'b'.repeat(262_144), taggedConcepts }),
      () => addArtifact(target, task, largest),
      () => call(target, 'GET', `/v1/tasks/${task}`),
      () => call(target, 'GET', '/v1/tasks?historyLength=100&includeArtifacts=true&pageSize=100'),
      () => call(target, 'PATCH', `/v1/agents/${target.handle}`, { description: 'd'.repeat(4_000) }),
      () => new Promise((done) => client.makeUnaryRequest(path, same, same, bytes, keyOf(target), done)),
    ]
    ready()
    await forever(acts.length, (index) => acts[index % acts.length]!())
  },
  reads: async (target, ready) => {
    const tasks = await Promise.all([1, 2, 3].map(() => send(target, largest)))
    for (const task of [...tasks, ...tasks]) await addArtifact(target, task, largest)
    ready()
    await forever(16, (index) => {
      const task = tasks[index % tasks.length]
      const paths = [`/v1/tasks/${task}`, `/v1/tasks/${task}/messages`, `/agents/${target.handle}/tasks/${task}`]
      return call(target, 'GET', paths[Math.floor(index / 3) % 3]!)
    })
  },
  lists: async (target, ready) => {
    const taggedConcepts = Array.from({ length: 10 }, (_, index) => `concept-of-some-length-${index}`)
    await subscribeMany(target, 500, () => 'http://127.0.0.1:9/', { filters: { taggedConcepts } })
    for (let count = 0; count < 250; count++) await send(target, 'x'.repeat(1_000))
    const pages = [
      '/v1/wake-subscriptions',
      '/v1/tasks?pageSize=100&historyLength=100&includeArtifacts=true',
      '/v1/inbox?limit=200',
      '/v1/messages?limit=200',
      '/v1/events',
      '/v1/agents',
      '/v1/catalog',
      '/v1/sessions?status=ended&limit=200',
    ]
    ready()
    await forever(64, (index) => call(target, 'GET', pages[index % pages.length]!))
  },
  tools: mcpAttack,
  /** Without its key: gRPC calls that it begins and resets at once, on one connection after the other. */
  resets: async ({ grpcTarget }, ready) => {
    const calls = [resetCalls(5_000), resetCalls(5_000, '/no.such.Service/Method')]
    ready()
    await forever(32, async (index) => {
      const socket = open(`tcp://${grpcTarget}`, calls[index % 2]).resume()
      await pause(100)
      socket.destroy()
    })
  },
} as const satisfies Record<string, Attack>

export type AttackName = keyof typeof attacks

const same = (value: Buffer): Buffer => value

function grpcClient({ grpcTarget }: Target): Client {
  return new Client(grpcTarget, credentials.createInsecure(), { 'grpc.max_receive_message_length': -1 })
}

function keyOf({ key }: Target): Metadata {
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${key}`)
  return metadata
}

async function listen(server: Server | HttpServer): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
