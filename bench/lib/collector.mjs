import { once } from 'node:events'
import { createServer } from 'node:http'

/** A collector of OpenTelemetry that reads what it gets and keeps nothing. */
export async function startCollector() {
  const server = createServer((req, res) => req.resume().on('end', () => res.writeHead(200).end('{}')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() }
}
