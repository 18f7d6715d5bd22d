import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type RequestHandler } from 'express'
import { expect, test } from 'vitest'
import { unsentOver, wantedBy, withMail } from '../../src/fronts/http/answer-mail.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { drain } from '../../src/mailbox/delivery/drain.ts'
import { readInbox } from '../../src/mailbox/reading/inbox.ts'
import { until } from '../support/until.ts'
import { type Office, openOffice } from './office.ts'

/** Answers on a real socket, in every way that routes do. */
async function serve(office: Office, handle: string) {
  const app = express()
  const context = { mail: office.context, log: silentLogger }
  const caller = office.caller(handle)
  const answer =
    (viewOf: () => unknown, status = 200): RequestHandler =>
    async (req, res) => {
      const wanted = wantedBy((name) => req.get(name))
      const call = { caller, method: req.method, path: req.path, wanted, whenUnsent: unsentOver(res) }
      const { view, headers } = await withMail(context, call, status, await viewOf())
      res.status(status).set(headers).json(view)
    }
  app.get(
    ['/v1/things', '/v1/inbox'],
    answer(() => ({ things: [] })),
  )
  app.get(
    '/v1/list',
    answer(() => ['no object']),
  )
  app.post(
    '/v1/made',
    (_req, res, next) => {
      res.location('/v1/made/1')
      next()
    },
    answer(() => ({ made: true }), 201),
  )
  app.get('/v1/gone', (_req, res) => void res.status(404).json({ code: 'not-found' }))
  app.get(
    '/v1/held',
    answer(() => ({ held: 'x'.repeat(50_000_000) })),
  )
  app.post(
    '/v1/sessions',
    answer(async () => {
      const signals = await office.db.transaction((tx) => drain(tx, caller.id, 'new'))
      return { sessionId: 'new', pendingSignals: signals }
    }, 201),
  )
  const server = createServer(app)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
    async call(path: string, method = 'GET'): Promise<{ status: number; location: string | null; body: any }> {
      const response = await fetch(url + path, { method })
      const text = await response.text()
      const body = text ? JSON.parse(text) : undefined
      return { status: response.status, location: response.headers.get('location'), body }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

const methods = async (office: Office, handle: string) =>
  (await readInbox(office.db, { agentId: office.caller(handle).id, order: 'oldest', limit: 10 })).mails.map(
    ({ recipient }) => recipient.deliveryMethod,
  )

// S2-14, S2-21: piggyback
test('every answer to an agent with a session includes its waiting mail, once, and is otherwise unchanged', async () => {
  await using office = await openOffice('lola', 'donna')
  await using front = await serve(office, 'donna')
  office.enter('donna', 'claude_desktop')
  expect((await front.call('/v1/things')).body).toEqual({ things: [] })
  await office.send('lola', { to: '@donna', subject: 'one' })
  const made = await front.call('/v1/made', 'POST')
  expect(made).toMatchObject({ status: 201, location: '/v1/made/1', body: { made: true } })
  expect(made.body.pendingSignals).toMatchObject([{ subject: 'one', from: '@lola' }])
  expect((await front.call('/v1/things')).body).toEqual({ things: [] })
  expect(await methods(office, 'donna')).toEqual(['piggyback'])
})

test('no mail is lost in an answer that cannot include it: a list, a problem, an answer without a body, the inbox itself', async () => {
  await using office = await openOffice('lola', 'donna')
  await using front = await serve(office, 'donna')
  office.enter('donna', 'cursor')
  await office.send('lola', { to: '@donna', subject: 'one' })
  expect((await front.call('/v1/list')).body).toEqual(['no object'])
  expect((await front.call('/v1/gone')).body).toEqual({ code: 'not-found' })
  await front.call('/v1/things', 'HEAD')
  expect((await front.call('/v1/inbox')).body).toEqual({ things: [] })
  expect(await methods(office, 'donna')).toEqual([null])
  expect((await front.call('/v1/things')).body.pendingSignals).toHaveLength(1)
})

test('without a session there is no piggyback: mail waits for the next start', async () => {
  await using office = await openOffice('lola', 'donna')
  await using front = await serve(office, 'donna')
  await office.send('lola', { to: '@donna', subject: 'one' })
  expect((await front.call('/v1/things')).body).toEqual({ things: [] })
  expect((await front.call('/v1/sessions', 'POST')).body.pendingSignals).toHaveLength(1)
})

test('mail in an answer whose reader disconnected before its end is delivered again', async () => {
  await using office = await openOffice('lola', 'donna')
  await using front = await serve(office, 'donna')
  office.enter('donna', 'cursor')
  await office.send('lola', { to: '@donna', subject: 'one' })
  await new Promise<void>((resolve) => {
    const call = request(`${front.url}/v1/held`, (answer) => {
      answer.once('data', () => {
        answer.destroy()
        resolve()
      })
    })
    call.end()
  })
  await until(
    () => methods(office, 'donna'),
    ([how]) => how === null,
  )
  expect((await front.call('/v1/things')).body.pendingSignals).toMatchObject([{ subject: 'one' }])
})

test('twenty concurrent calls share the waiting mail, and each message is in one of them', async () => {
  await using office = await openOffice('lola', 'donna')
  await using front = await serve(office, 'donna')
  office.enter('donna', 'cursor')
  for (let n = 0; n < 30; n++) await office.send('lola', { to: '@donna', subject: `m${n}` })
  const answers = await Promise.all(Array.from({ length: 20 }, () => front.call('/v1/things')))
  const subjects = answers.flatMap(({ body }) => body.pendingSignals ?? []).map(({ subject }) => subject)
  expect(subjects.sort()).toEqual(Array.from({ length: 30 }, (_, n) => `m${n}`).sort())
})
