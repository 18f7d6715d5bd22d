/** The layers of a gateway in the order of the way in, each with its rooms (`cpu-profile.mjs`). The first that fits counts. */
const layers = [
  ["Node's HTTP and sockets", /^node:(_http|_tls|tls|net|events|stream|internal\/(http|net|tls|stream))/],
  [
    'Express and its router',
    /^(express|router|debug|path-to-regexp|parseurl|finalhandler|send|merge-descriptors|mime-types|proxy-addr|ipaddr\.js)$/,
  ],
  ['the SDK', /^@a2a-js\/sdk$/],
  [
    'fronts (edge, key, admission, A2A)',
    /^(fronts|admission|identity|gateway|agent-card|registry\/callers|zod|jose)(\/|$)/,
  ],
  ['tasks and mail', /^(tasks|mailbox|registry|audit|claims|needs|sessions|recovery)(\/|$)/],
  [
    'log, wakes and storage in JavaScript',
    /^(log|wakes|storage|cluster|subscriptions|wake-stream|mcp-sessions|drizzle-orm|pg(-.+)?|postgres-.+)(\/|$)/,
  ],
  ['SQLite (statements)', /^SQLite \(statements\)$/],
  ['SQLite (commit) and the flush', /^(SQLite \(commit\)|fdatasync)$/],
  ['the way out (signatures, requests)', /^(webhooks|security|undici)(\/|$)/],
  ['garbage collector', /^garbage collector$/],
  [
    'V8 and system',
    /^(system calls|node$|node:internal\/(process|timers|async_hooks|modules|bootstrap|deps)|node:timers)/,
  ],
  ['tools (ids, log lines, crypto, buffers)', /^(lib|logger|metrics|tracing|words|pino|node:)/],
]

export const layerNames = [...layers.map(([name]) => name), 'others']

export function layerOf(room) {
  return layers.find(([, rooms]) => rooms.test(room))?.[0] ?? 'others'
}
