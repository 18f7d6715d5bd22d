import { expect, test } from 'vitest'
import { AppServer } from '../../../src/harnesses/codex/adapter/app-server.ts'
import { openChild } from '../../../src/harnesses/codex/adapter/rpc/child.ts'
import { Connection } from '../../../src/harnesses/codex/adapter/rpc/connection.ts'
import { RpcError, refusalOf } from '../../../src/harnesses/codex/adapter/rpc/refusals.ts'
import { openSocket } from '../../../src/harnesses/codex/adapter/rpc/socket.ts'
import type { Transport } from '../../../src/harnesses/codex/adapter/rpc/transport.ts'
import { FakeCodex } from './fake-codex.ts'

function makeTransport() {
  const sent: { id?: number; method: string }[] = []
  let take: (text: string) => void = () => {}
  let close: (why: string) => void = () => {}
  const transport: Transport = {
    send: (text) => sent.push(JSON.parse(text)),
    onText: (listener) => {
      take = listener
    },
    closed: new Promise((resolve) => {
      close = resolve
    }),
    [Symbol.asyncDispose]: async () => {},
  }
  return {
    transport,
    sent,
    take: (message: unknown) => take(JSON.stringify(message)),
    raw: (text: string) => take(text),
    close: (why: string) => close(why),
  }
}

test('answers find their request in any order; what is not understood is passed over', async () => {
  const { transport, take, raw } = makeTransport()
  const connection = new Connection(transport)
  const calls = [connection.call('a', {}), connection.call('b', {})]
  raw('no JSON')
  raw('[1]')
  take({ id: 99, result: {} })
  take({ id: 2, result: { of: 'b' } })
  take({ id: 1, result: { of: 'a' } })
  expect(await Promise.all(calls)).toEqual([{ of: 'a' }, { of: 'b' }])
})

test('a request of the server is reported, and never answered', () => {
  const { transport, sent, take } = makeTransport()
  const connection = new Connection(transport)
  const heard: boolean[] = []
  connection.listen(({ id }) => heard.push(id !== undefined))
  take({ id: 7, method: 'item/commandExecution/requestApproval', params: {} })
  take({ method: 'turn/started', params: {} })
  expect(heard).toEqual([true, false])
  expect(sent).toEqual([])
})

test('a connection that closes, and an answer that does not come, end the requests', async () => {
  const { transport, close } = makeTransport()
  const connection = new Connection(transport)
  await expect(connection.call('slow', {}, 10)).rejects.toThrow('slow: no answer within 10 ms')
  const open = connection.call('a', {})
  close('gone')
  await expect(open).rejects.toThrow('gone')
  await expect(connection.call('b', {})).rejects.toThrow('gone')
})

test('requests without an answer are counted', async () => {
  const { transport } = makeTransport()
  const connection = new Connection(transport)
  const open = Array.from({ length: 64 }, () => connection.call('a', {}, 50).catch(() => {}))
  await expect(connection.call('a', {})).rejects.toThrow('too many requests')
  await Promise.all(open)
})

test.each([
  [-32001, 'Server overloaded; retry later.', 'overloaded'],
  [-32601, 'nope', 'no-such-method'],
  [-32600, 'Invalid request: unknown variant `thread/queue/add`, expected one of', 'no-such-method'],
  [-32600, 'thread/queue/add requires experimentalApi capability', 'not-experimental'],
  [-32600, 'thread 1 already has an active writer', 'active-writer'],
  [-32603, 'no rollout found for thread id 1', 'no-history'],
  [-32600, 'thread not found: 1', 'no-history'],
  [-32600, 'expected active turn id `A` but found `B`', 'other-turn'],
  [-32600, 'something else', 'other'],
])('the error %i %s means %s', (code, message, meaning) => {
  expect(refusalOf(new RpcError(code, message))).toBe(meaning)
})

test('a server on a socket and one of our own are greeted the same way', async () => {
  const codex = FakeCodex.start()
  await codex.listen()
  for (const open of [() => openSocket(codex.controlSocket), async () => openChild(codex.program, {})]) {
    await using server = await AppServer.greet(await open())
    expect(server).toMatchObject({ version: '0.169.0', home: codex.home })
  }
})

test('a program that cannot be started says so', async () => {
  await expect(AppServer.greet(openChild('/nowhere/codex', {}))).rejects.toThrow('/nowhere/codex cannot be started')
})

test('a program that prints no JSON ends with its connection', async () => {
  await using connection = new Connection(openChild('/bin/cat', {}))
  await expect(connection.call('initialize', {}, 100)).rejects.toThrow()
})
