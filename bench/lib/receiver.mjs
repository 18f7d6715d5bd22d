// Four bare web servers in a process of their own. They count POSTs and unique webhook ids; for a latency measurement they
// also read from the body when its event was due, and how long ago that was. Paths: `/` and `/others` take every event, and
// `/` is the one that is timed; `/trouble` answers every tenth with 500 and leaves every hundredth waiting for five seconds.
// Arguments: how many, and for HTTPS the files of the key and of the certificate.
// Messages: { reset: { timed, keep } } (`keep` leaves the counts as they are) and { report: true }, each answered.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { quantile } from './stats.mjs'
import { nowUs, stampPattern } from './work.mjs'

const stallMs = 5_000
const idInBody = /"messageId":"([^"]+)"/
let timed = false
let seen = freshCounts()

const [, , count, keyFile, certFile] = process.argv
const tls = keyFile && { key: readFileSync(keyFile), cert: readFileSync(certFile) }
const createServer = () => (tls ? createHttpsServer(tls, answer) : createHttpServer(answer))
const servers = Array.from({ length: Number(count) }, () => createServer().listen(0, '127.0.0.1'))
for (const server of servers) server.keepAliveTimeout = 60_000
await Promise.all(servers.map((server) => once(server, 'listening')))

process.on('disconnect', () => process.exit(0))
process.on('message', ({ reset }) => {
  if (reset) {
    timed = reset.timed ?? false
    if (!reset.keep) seen = freshCounts()
  }
  process.send(report())
})
process.send({ ports: servers.map((server) => server.address().port) })

function answer(req, res) {
  const arrivedAt = nowUs()
  seen.requests++
  seen.bytes += Number(req.headers['content-length'] ?? 0)
  const id = req.headers['webhook-id']
  if (!timed && id && req.url === '/') {
    take(id)
    req.resume().on('end', () => res.writeHead(204).end())
    return
  }
  let body = ''
  req.setEncoding('utf8').on('data', (chunk) => {
    body += chunk
  })
  req.on('end', () => {
    const nth = req.url === '/trouble' ? ++seen.troubled : 0
    if (nth > 0 && nth % 10 === 3) return res.writeHead(500).end()
    take(id ?? idInBody.exec(body)?.[1])
    const dueAt = timed && stampPattern.exec(body)?.[1]
    if (dueAt && req.url === '/') seen.late.push((arrivedAt - Number(dueAt)) / 1000)
    const respond = () => res.writeHead(204).end()
    if (nth > 0 && nth % 100 === 50) setTimeout(respond, stallMs)
    else respond()
  })
}

function take(id) {
  seen.accepted++
  seen.ids.add(id)
}

function freshCounts() {
  return { requests: 0, accepted: 0, bytes: 0, troubled: 0, ids: new Set(), late: [] }
}

function report() {
  const { requests, accepted, bytes, ids, late } = seen
  const wake = { count: late.length, p50: quantile(late, 0.5), p99: quantile(late, 0.99) }
  return { requests, accepted, unique: ids.size, bytes, wake }
}
