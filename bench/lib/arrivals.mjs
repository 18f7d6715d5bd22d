import { once } from 'node:events'
import { createServer } from 'node:http'

/** A receiver in this process, for measurements that wait for one wake at a time. `keyOf(payload)` names a wake. */
export async function startArrivals(keyOf) {
  const waiting = new Map()
  const server = createServer((req, res) => {
    const arrivedAt = performance.now()
    let text = ''
    req.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    req.on('end', () => {
      res.writeHead(204).end()
      const slot = slotOf(keyOf(JSON.parse(text).payload))
      slot.resolve(arrivedAt)
    })
  }).listen(0, '127.0.0.1')
  server.keepAliveTimeout = 60_000
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    /** When the wake of this key arrived, or will have. */
    async of(key, timeoutMs = 30_000) {
      const { promise } = slotOf(key)
      let timer
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`No wake for ${key} in ${timeoutMs} ms.`)), timeoutMs)
      })
      try {
        return await Promise.race([promise, late])
      } finally {
        clearTimeout(timer)
        waiting.delete(key)
      }
    },
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }

  function slotOf(key) {
    let slot = waiting.get(key)
    if (!slot) {
      slot = {}
      slot.promise = new Promise((resolve) => {
        slot.resolve = resolve
      })
      waiting.set(key, slot)
    }
    return slot
  }
}
