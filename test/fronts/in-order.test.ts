import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { inOrder } from '../../src/fronts/in-order.ts'

const note =
  (word: string): RequestHandler =>
  (_req, res, next) => {
    res.locals.words = [...(res.locals.words ?? []), word]
    next()
  }
const noteLater =
  (word: string): RequestHandler =>
  async (req, res, next) => {
    await Promise.resolve()
    note(word)(req, res, next)
  }
const answer: RequestHandler = (_req, res) => void res.json(res.locals.words)
const answerError: ErrorRequestHandler = (error, _req, res, _next) => void res.status(400).json(String(error))

function get(handlers: RequestHandler[]) {
  const app = express()
  app.use('/base', inOrder(handlers))
  app.use(answer, answerError)
  return request(app).get('/base/path')
}

describe('handlers in order', () => {
  it('runs each after the one before it has called next, and then what follows', async () => {
    const { body } = await get([note('a'), noteLater('b'), note('c')])
    expect(body).toEqual(['a', 'b', 'c'])
  })

  it('goes on to what follows when there is no handler', async () => {
    const { status } = await get([])
    expect(status).toBe(200)
  })

  it('runs nothing after a handler that answers', async () => {
    const { body } = await get([(_req, res) => void res.json('done'), () => expect.unreachable()])
    expect(body).toBe('done')
  })

  const failures: Record<string, RequestHandler> = {
    throws: () => {
      throw new Error('no')
    },
    'rejects before it calls next': async () => {
      throw new Error('no')
    },
    'passes an error to next': (_req, _res, next) => next(new Error('no')),
    'passes an error to next later': async (_req, _res, next) => {
      await Promise.resolve()
      next(new Error('no'))
    },
  }
  for (const [name, handler] of Object.entries(failures)) {
    it(`gives the error handlers what a handler ${name}`, async () => {
      const { status, body } = await get([note('a'), handler, () => expect.unreachable()])
      expect({ status, body }).toEqual({ status: 400, body: 'Error: no' })
    })
  }

  it('serves many requests at a time, each with its own position', async () => {
    const app = express()
    app.use(inOrder([noteLater('a'), noteLater('b'), answer]))
    const server = app.listen(0)
    try {
      const answers = await Promise.all(Array.from({ length: 20 }, () => request(server).get('/')))
      for (const { body } of answers) expect(body).toEqual(['a', 'b'])
    } finally {
      server.close()
    }
  })
})
