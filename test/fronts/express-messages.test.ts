import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { expect, it } from 'vitest'
import { ExpressMessages } from '../../src/fronts/http/express-messages.ts'

it('gives requests and responses the prototypes of the app before Express sets them', async () => {
  const messages = new ExpressMessages()
  const app = express()
  messages.adopt(app)
  const changed: string[] = []
  const setPrototypeOf = Object.setPrototypeOf
  Object.setPrototypeOf = (object: object, prototype: object | null) => {
    if (Object.getPrototypeOf(object) !== prototype) changed.push(object.constructor.name)
    return setPrototypeOf(object, prototype)
  }
  app.use(express.json())
  app.post('/words', (req, res) => {
    res.json({
      body: req.body,
      isJson: req.is('json'),
      host: req.hostname,
      isOfApp: req.app === app && res.app === app,
    })
  })
  const server = createServer({ ...messages }, app)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  try {
    const { port } = server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}/words`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"word":1}',
    })
    expect(await answer.json()).toEqual({ body: { word: 1 }, isJson: 'json', host: '127.0.0.1', isOfApp: true })
    expect(changed.filter((name) => /Message|Response/.test(name))).toEqual([])
  } finally {
    Object.setPrototypeOf = setPrototypeOf
    server.closeAllConnections()
    server.close()
  }
})
