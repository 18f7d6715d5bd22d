import { expect, test } from 'vitest'
import { serveGateway } from '../../src/cli/operator/serve-gateway.ts'
import { createPrinter } from '../../src/client/printer.ts'
import { silentLogger } from '../../src/logger/logger.ts'

const config = { http: { host: '127.0.0.1', port: 4520 }, dataDir: '/data/rouse' }

function stubGateway(failure?: object) {
  const calls: string[] = []
  return {
    calls,
    async start() {
      calls.push('start')
      if (failure) throw Object.assign(new Error('listen failed'), failure)
      return {
        url: 'http://127.0.0.1:4520',
        grpcTarget: '127.0.0.1:4521',
        adminKeyFile: '/data/rouse/admin.key' as string | undefined,
        warnings: ['Rouse listens to everybody.'],
      }
    },
    async stop() {
      calls.push('stop')
    },
  }
}

let notes = ''
let lines: [string, object][] = []

async function serve(gateway: ReturnType<typeof stubGateway>, { json = false, terminal = false } = {}) {
  const interruption = new AbortController()
  let stdout = ''
  notes = ''
  lines = []
  const info = (fields: object, event: string) => {
    lines.push([event, fields])
    interruption.abort()
  }
  const io = {
    stdout: (text: string) => {
      stdout += text
      interruption.abort()
    },
    stderr: (text: string) => {
      notes += text
    },
    env: {},
  }
  const { signal } = interruption
  await serveGateway(() => gateway, config, {
    print: createPrinter(io, json),
    log: { ...silentLogger, info },
    terminal,
    signal,
  })
  return stdout
}

test('serve says on a terminal where it is, in one line, and stops gracefully', async () => {
  const gateway = stubGateway()
  const stdout = await serve(gateway, { terminal: true })
  expect(stdout).toBe(
    'Rouse is up at http://127.0.0.1:4520 · gRPC at 127.0.0.1:4521 · data in /data/rouse · admin key in /data/rouse/admin.key\n',
  )
  expect(gateway.calls).toEqual(['start', 'stop'])
  expect(notes).toBe('Stopping … (Ctrl-C again stops at once)\n')
  expect(lines).toEqual([])
})

test('where nobody reads, start and stop are lines of the log and nothing else is written', async () => {
  expect(await serve(stubGateway())).toBe('')
  expect(notes).toBe('')
  expect(lines).toMatchObject([
    [
      'gateway.started',
      { url: 'http://127.0.0.1:4520', dataDir: '/data/rouse', store: 'sqlite', version: expect.stringMatching(/^\d/) },
    ],
    ['gateway.stopping', {}],
    ['gateway.stopped', { upSeconds: 0 }],
  ])
})

test('serve --json prints one object', async () => {
  expect(JSON.parse(await serve(stubGateway(), { json: true }))).toEqual({
    url: 'http://127.0.0.1:4520',
    grpcTarget: '127.0.0.1:4521',
    dataDir: '/data/rouse',
    adminKeyFile: '/data/rouse/admin.key',
    warnings: ['Rouse listens to everybody.'],
  })
})

test.each([
  [
    'a taken port',
    { code: 'EADDRINUSE', port: 4520 },
    /Port 4520 is taken.*rouse serve --port 4530 --grpc-port 4531; export ROUSE_URL=http:\/\/127.0.0.1:4530/,
  ],
  ['a taken gRPC port', { code: 'EADDRINUSE', port: 4521 }, /Port 4521 is taken.*--grpc-port 4531.*ROUSE_GRPC_PORT/],
  ['a forbidden port', { code: 'EACCES', syscall: 'listen', port: 4520 }, /may not listen on port 4520/],
  ['an address of another machine', { code: 'EADDRNOTAVAIL' }, /no address 127\.0\.0\.1/],
])('%s is explained, and everything that was opened is closed', async (_what, failure, message) => {
  const gateway = stubGateway(failure)
  await expect(serve(gateway)).rejects.toThrow(message)
  expect(gateway.calls).toEqual(['start', 'stop'])
})

test('a file that may not be read is not taken for a port', async () => {
  const message = "EACCES: permission denied, open '/data/rouse/admin.key'"
  const failure = { code: 'EACCES', syscall: 'open', message }
  await expect(serve(stubGateway(failure))).rejects.toThrow(message)
})
