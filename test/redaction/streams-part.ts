import { expect } from 'vitest'
import { until } from '../support/until.ts'
import { openWakeSocket } from '../support/wake-socket.ts'
import type { Run } from './run.ts'

/** The stream of wakes as server-sent events and as a WebSocket: a wake over each, wrong and misplaced keys. */
export async function runStreams(run: Run, key: string, sender: string, wrongKey: string, misplaced: string) {
  const path = (id: string, more = '') => `/v1/wake-stream?subscription=${encodeURIComponent(id)}${more}`
  const subscribe = async () => {
    const target = { harnessTarget: 'bridge-daemon', harnessTargetMetadata: { coalesceWindow: 0 } }
    const made = await run.call(
      'POST',
      '/v1/wake-subscriptions',
      { trigger: 'SENT_TO_ME', ...target },
      key,
      'signingKey',
    )
    return made.subscriptionId as string
  }
  const send = (subject: string) => run.call('POST', '/v1/messages', { to: '@donna', subject }, sender)

  const id = await subscribe()
  const events = await readEvents(run, path(id), key)
  await send('over server-sent events')
  await until(events.text, (text) => text.includes('webhook-signature'))
  await events.end()

  {
    using socket = await openWakeSocket(run.gateway, { key }, [id])
    await send('over a WebSocket')
    const [wake] = await socket.waitFor('wake', 1)
    await socket.report([{ eventId: wake!.id, step: 'delivered' }])
    await socket.report(`[{"eventId":"${misplaced}","step":"${misplaced}"}]`)
    run.watch.emit('the frames of a WebSocket', JSON.stringify(socket.frames))
  }

  const refused = (more: string, bearer: string) =>
    run.request('GET', path(id, more), undefined, { authorization: `Bearer ${bearer}`, accept: 'text/event-stream' })
  expect((await refused('', wrongKey)).status).toBe(401)
  expect((await refused(`&apiKey=${misplaced}`, key)).status).toBe(400)
  expect((await refused('', `${misplaced}.${misplaced}`)).status).toBe(401)
  for (const given of [{ key: wrongKey }, { key: misplaced }]) {
    const error = await openWakeSocket(run.gateway, given, [id]).then(
      () => undefined,
      (failure: Error) => failure,
    )
    expect(error?.message).toContain('401')
  }
  const receipts = [{ eventId: misplaced, step: misplaced }]
  await run.call('POST', '/v1/wake-stream/receipts', receipts, key)
}

async function readEvents(run: Run, path: string, key: string) {
  const closing = new AbortController()
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${key}` }
  const response = await fetch(run.gateway.url + path, { headers, signal: closing.signal })
  expect(response.status).toBe(200)
  let text = JSON.stringify([...response.headers])
  const reading = (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  })().catch(() => {})
  return {
    text: () => text,
    async end() {
      closing.abort()
      await reading
      run.watch.emit('the stream of wakes', text)
    },
  }
}
