const losesASecond = 'durability at the answer: a crash loses a second'

/** The engines that do the delivery work. `module` is relative to this folder; `lacks` says where the work is not equal to Rouse's. */
export const engines = {
  rouse: {
    title: 'Rouse, append (SQLite)',
    module: './rouse-engine.mjs',
    settings: { accept: 'append' },
  },
  'rouse-send-message': {
    title: 'Rouse, SendMessage (SQLite)',
    module: './rouse-engine.mjs',
    settings: { accept: 'sendMessage' },
  },
  ...onPostgres(1),
  ...onPostgres(2),
  ...onPostgres(3),
  ...onPostgres(1, { share: 0.4 }),
  ...onPostgres(2, { share: 0.4 }),
  ...onPostgres(3, { share: 0.4 }),
  ...onPostgres(1, { held: true }),
  floor: {
    title: 'floor: rows, two signatures and a POST, no engine',
    module: '../peers/floor-delivery.mjs',
    lacks: 'retries, leases, filters, policies',
  },
  'undici-50': {
    title: 'undici Pool, 50 at a time',
    module: '../peers/undici.mjs',
    settings: { signed: false },
    inFlight: 50,
    lacks: 'storage, signature, retries, order',
  },
  'undici-100': {
    title: 'undici Pool, 100 at a time',
    module: '../peers/undici.mjs',
    settings: { signed: false },
    lacks: 'storage, signature, retries, order',
  },
  'undici-signed-50': {
    title: 'undici Pool, signed, 50 at a time',
    module: '../peers/undici.mjs',
    settings: { signed: true },
    inFlight: 50,
    lacks: 'storage, retries, order',
  },
  'undici-signed-100': {
    title: 'undici Pool, signed, 100 at a time',
    module: '../peers/undici.mjs',
    settings: { signed: true },
    lacks: 'storage, retries, order',
  },
  ...queue('bullmq-always', 'BullMQ, AOF always', 'bullmq', 'redis', { appendfsync: 'always' }),
  ...queue('bullmq-everysec', 'BullMQ, AOF everysec', 'bullmq', 'redis', { appendfsync: 'everysec' }, losesASecond),
  ...queue('pg-boss', 'pg-boss', 'pg-boss', 'postgres'),
  ...queue('graphile-worker', 'graphile-worker', 'graphile-worker', 'postgres'),
  'sdk-push': {
    title: '@a2a-js/sdk push sender',
    module: '../peers/sdk-push.mjs',
    lacks: 'storage, signature, retries, attempt records: all in memory',
  },
}

/** The names of a list with commas. One that is unknown is refused before anything is measured. */
export function chosenEngines(list) {
  const names = list.split(',')
  const unknown = names.filter((name) => !Object.hasOwn(engines, name))
  if (unknown.length === 0) return names
  throw new Error(`--only: no such engine: ${unknown.join(', ')}. There are: ${Object.keys(engines).join(', ')}.`)
}

/** A queue twice: used as its documentation shows, and with bulk inserts that code of ours makes possible. */
function queue(name, title, file, service, serviceSettings = {}, lacks = undefined) {
  const module = `../peers/${file}.mjs`
  const common = {
    module,
    service,
    serviceSettings,
    lacks: [lacks, 'order per subscription'].filter(Boolean).join('; '),
  }
  return {
    [name]: { title, settings: { bulk: false }, ...common },
    [`${name}-bulk`]: { title: `${title}, adds joined in bulk`, settings: { bulk: true }, ...common },
  }
}

/**
 * Rouse on PostgreSQL: the same work, by this many gateways, with a whole core each or a share of one. `held`: beside a transaction that
 * somebody holds open.
 */
function onPostgres(gateways, { share, held = false } = {}) {
  const confined = share ? ` with ${share} of a core${gateways === 1 ? '' : ' each'}` : ''
  const beside = held ? ' beside a held transaction' : ''
  const title = `Rouse on PostgreSQL, ${gateways} ${gateways === 1 ? 'gateway' : 'gateways'}${confined}${beside}`
  const name = `rouse-pg-${gateways}${share ? '-confined' : ''}${held ? '-held' : ''}`
  const common = { module: './rouse-gateways-engine.mjs', service: 'postgres', serviceSettings: {} }
  return {
    [name]: { title: `${title}, append`, settings: { gateways, share, held, accept: 'append' }, ...common },
    [`${name}-send-message`]: {
      title: `${title}, SendMessage`,
      settings: { gateways, share, held, accept: 'sendMessage' },
      ...common,
    },
  }
}
