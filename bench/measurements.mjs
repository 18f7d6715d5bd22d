import * as bridge from './bridge.mjs'
import * as collections from './collections.mjs'
import * as delivery from './delivery.mjs'
import * as followers from './followers.mjs'
import * as footprint from './footprint.mjs'
import * as growth from './growth.mjs'
import * as latency from './latency.mjs'
import * as mcp from './mcp.mjs'
import * as memory from './memory.mjs'
import * as sendMessage from './send-message.mjs'
import * as trouble from './trouble.mjs'
import * as wakeLatency from './wake-latency.mjs'

/** Every measurement of a gateway, in the order of docs/benchmarks.md. */
export const measurements = {
  delivery,
  sendMessage,
  wakeLatency,
  latency,
  trouble,
  memory,
  footprint,
  collections,
  mcp,
  followers,
  bridge,
  growth,
}
