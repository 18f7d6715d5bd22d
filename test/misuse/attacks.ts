import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { SubscribeToTaskRequest } from '@a2a-js/sdk'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { type Attack, call, manyTimes, pause, send, type Target } from './attacker-calls.ts'
import { largeAttack } from './large-attack.ts'
import { mcpAttack } from './mcp-attack.ts'

/** One agent with a key, each bad in a way of its own. */
export const attacks = {
  /** Nothing at all: takes processor time beside those who measure, and shows what the machine itself makes of that. */
  burns: async (_target, ready, signal) => {
    ready()
    while (!signal.aborted) {
      const until = performance.now() + 10
      while (performance.now() < until);
      await new Promise(setImmediate)
    }
  },
  /** As many requests as 64 connections take, of reads and sends. */
  floods: async (target, ready, signal) => {
    ready()
    await manyTimes(64, signal, async (index) => {
      if (index % 2) await call(target, 'GET', '/v1/agents')
      else await send(target, 'flood')
    })
  },
  /** Bodies of brackets, small and large, compressed by their sender's word. */
  nests: async (target, ready, signal) => {
    const small = `{"artifact":{"parts":[{"data":${'['.repeat(4_000)}${']'.repeat(4_000)}}]}}`
    const wide = `[${'{},'.repeat(1_000_000)}{}]`
    ready()
    await manyTimes(8, signal, async (index) => {
      if (index % 2) await call(target, 'POST', '/v1/tasks/x/artifacts', small)
      else await call(target, 'POST', `/agents/${target.handle}`, wide, { 'a2a-version': '1.0' })
    })
  },
  /** Receivers that accept and say nothing, tried by `test`; and calls that block for as long as they may. */
  hangs: async (target, ready, signal) => {
    const silent = await silentReceiver(signal)
    const ids = await subscribeMany(target, 20, () => silent)
    ready()
    await Promise.all([
      manyTimes(100, signal, async (index) => {
        await call(target, 'POST', `/v1/wake-subscriptions/${ids[index % Math.max(1, ids.length)]}/test`)
      }),
      manyTimes(100, signal, async () => {
        await send(target, 'wait for me', {})
      }),
    ])
  },
  /** Connections that send a header or a body, one byte at a time. */
  drips: async ({ url, key }, ready, signal) => {
    const { hostname, port } = new URL(url)
    const sockets = new Set<Socket>()
    const open = (head: string): void => {
      const socket = connect(Number(port), hostname)
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
      socket.write(head)
    }
    for (let count = 0; count < 300; count++) {
      open('GET /v1/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Drip: ')
      open(
        `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{"a":"`,
      )
    }
    ready()
    while (!signal.aborted) {
      for (const socket of sockets) socket.write('x')
      await pause(200, signal)
    }
    for (const socket of sockets) socket.destroy()
  },
  /** 10,000 connections that say nothing, and bodies that never end. */
  idles: async ({ url, key }, ready, signal) => {
    const { hostname, port } = new URL(url)
    const sockets: Socket[] = []
    const open = (): Socket => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      sockets.push(socket)
      return socket
    }
    for (let count = 0; count < 10_000 && !signal.aborted; count++) {
      open()
      if (count % 100 === 0) await pause(10, signal)
    }
    const endless = Array.from({ length: 50 }, () => {
      const socket = open()
      socket.write(
        `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n`,
      )
      return socket
    })
    ready()
    const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`
    while (!signal.aborted) {
      for (const socket of endless) if (socket.writableLength === 0) socket.write(chunk)
      await pause(20, signal)
    }
    for (const socket of sockets) socket.destroy()
  },
  /** 3,000 streams, over HTTP and gRPC, that nobody reads, while their agent's log grows. */
  streams: async (target, ready, signal) => {
    const { hostname, port } = new URL(target.url)
    const sockets: Socket[] = []
    for (let count = 0; count < 3_000; count++) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      socket.pause()
      socket.write(
        `GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${target.key}\r\nAccept: text/event-stream\r\n\r\n`,
      )
      sockets.push(socket)
      if (count % 50 === 0) await pause(20, signal)
    }
    const task = await send(target, 'watched')
    const client = new Client(target.grpcTarget, credentials.createInsecure())
    const metadata = new Metadata()
    metadata.set('authorization', `Bearer ${target.key}`)
    const { path, requestSerialize } = A2AService.subscribeToTask
    const bytes = requestSerialize(SubscribeToTaskRequest.fromJSON({ tenant: `agents/${target.handle}`, id: task }))
    for (let count = 0; count < 300; count++) {
      const same = (value: Buffer) => value
      const stream = client.makeServerStreamRequest(path, same, same, bytes, metadata)
      stream.on('error', () => {})
      stream.pause()
    }
    ready()
    await manyTimes(1, signal, async () => {
      await send(target, 'x'.repeat(1_000))
      await pause(20, signal)
    })
    for (const socket of sockets) socket.destroy()
    client.close()
  },
  /** 1,500 subscriptions to receivers that accept and say nothing, and mail to oneself. */
  subscribes: async (target, ready, signal) => {
    const receivers = await Promise.all(Array.from({ length: 150 }, () => silentReceiver(signal)))
    await subscribeMany(target, 1_500, (index) => receivers[index % receivers.length]!)
    ready()
    await manyTimes(1, signal, async () => {
      await call(target, 'POST', '/v1/messages', JSON.stringify({ to: `@${target.handle}`, subject: 'wake up' }))
      await pause(100, signal)
    })
  },
  /** As many subscriptions as it may have to a receiver that answers at once, all of which each message to oneself wakes. */
  wakes: async (target, ready, signal) => {
    const receiver = await promptReceiver(signal)
    await subscribeMany(target, 500, () => receiver, { includeOwn: true })
    ready()
    await manyTimes(1, signal, async () => {
      await send(target, 'wake all')
      await pause(20, signal)
    })
  },
  /** Changes that store nothing: to itself, and claims that it takes and releases. */
  changes: async (target, ready, signal) => {
    ready()
    await manyTimes(16, signal, async (index) => {
      const ref = `ref-${index}`
      if (index % 2) await call(target, 'PATCH', `/v1/agents/${target.handle}`, JSON.stringify({ description: ref }))
      else await call(target, 'POST', '/v1/claims', JSON.stringify({ ref }))
      if (index % 2 === 0) await call(target, 'DELETE', `/v1/claims?ref=${ref}`)
    })
  },
  /** A key that it makes up for each request. */
  guesses: async (target, ready, signal) => {
    ready()
    await manyTimes(64, signal, async (index) => {
      await call({ ...target, key: `${target.key.slice(0, -8)}${String(index).padStart(8, '0')}` }, 'GET', '/v1/agents')
    })
  },
  /** Receivers under names whose name server never answers. */
  names: async (target, ready, signal) => {
    const ids = await subscribeMany(target, 100, (index) => `http://h${index}.slow-dns.example/`)
    ready()
    await Promise.all([
      manyTimes(40, signal, async (index) => {
        await call(target, 'POST', `/v1/wake-subscriptions/${ids[index % Math.max(1, ids.length)]}/test`)
      }),
      manyTimes(1, signal, async () => {
        await call(target, 'POST', '/v1/messages', JSON.stringify({ to: `@${target.handle}`, subject: 'wake up' }))
        await pause(200, signal)
      }),
    ])
  },
  /** The largest message, mail, artifact and description that is taken, and the largest answers to them. */
  largest: largeAttack,
  /** Many large tasks, each read by a path of its own. */
  reads: async (target, ready, signal) => {
    const text = 'x'.repeat(3_000_000)
    const tasks: string[] = []
    while (tasks.length < 12 && !signal.aborted) {
      const task = await send(target, text)
      // Sent too fast they are refused.
      if (task) tasks.push(task)
      else await pause(1_000, signal)
    }
    ready()
    await manyTimes(16, signal, async (index) => {
      const task = tasks[index % tasks.length]
      const path = [`/v1/tasks/${task}`, `/v1/tasks/${task}/messages`, `/agents/${target.handle}/tasks/${task}`][
        index % 3
      ]!
      await call(target, 'GET', path, undefined, { 'a2a-version': '1.0' })
    })
  },
  /** The longest pages: of 500 subscriptions, and of tasks, mail, events and sessions, all together. */
  lists: async (target, ready, signal) => {
    const taggedConcepts = Array.from({ length: 10 }, (_, index) => `concept-of-some-length-${index}`)
    await subscribeMany(target, 500, () => 'http://127.0.0.1:9/', {}, { filters: { taggedConcepts } })
    for (let count = 0; count < 250 && !signal.aborted; count++) await send(target, 'x'.repeat(1_000))
    ready()
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
    await manyTimes(64, signal, async (index) => {
      await call(target, 'GET', pages[index % pages.length]!)
    })
  },
  /** Sessions of MCP without end, streams of theirs that nobody reads, and the largest answers of its tools. */
  tools: mcpAttack,
} as const satisfies Record<string, Attack>

export type AttackName = keyof typeof attacks

async function subscribeMany(
  target: Target,
  count: number,
  urlOf: (index: number) => string,
  more: object = {},
  rest: object = {},
): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const metadata = { url: urlOf(index), coalesceWindow: 0, ...more }
    const input = { trigger: 'SENT_TO_ME', harnessTarget: 'a2a-webhook', harnessTargetMetadata: metadata, ...rest }
    const answer = await call(target, 'POST', '/v1/wake-subscriptions', JSON.stringify(input))
    const [, id] = /"subscriptionId":"([^"]+)"/.exec(answer) ?? []
    // What is refused once is refused again: a limit is reached.
    if (id === undefined) break
    ids.push(id)
  }
  return ids
}

/** A receiver that takes each wake at once. */
async function promptReceiver(signal: AbortSignal): Promise<string> {
  const server = createHttpServer((req, res) => {
    req.resume()
    res.writeHead(204).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  signal.addEventListener('abort', () => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as { port: number }
  return `http://127.0.0.1:${port}/`
}

/** A port that accepts and says nothing. */
async function silentReceiver(signal: AbortSignal): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  signal.addEventListener('abort', () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as { port: number }
  return `http://127.0.0.1:${port}/`
}
