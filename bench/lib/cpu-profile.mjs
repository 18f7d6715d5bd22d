// Reads a CPU profile of V8 and says which part of the program the time was spent in.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Frames of V8 that are no functions. */
const natives = new Map([
  ['(garbage collector)', 'garbage collector'],
  ['(idle)', undefined],
  ['(program)', 'system calls and V8 outside of JavaScript'],
])

/**
 * Returns the rooms of a process that has ended with its CPU time in each, in the unit of `cpu`, from the profile that it wrote into the
 * directory. The shares are those of its main thread.
 * @param pid of a process that was started with `--cpu-prof`
 */
export function roomCosts(directory, pid, interval, cpu) {
  const mine = new RegExp(`\\.${pid}\\.0\\.\\d+\\.cpuprofile$`)
  const file = readdirSync(directory)
    .filter((name) => mine.test(name))
    .sort()
    .at(-1)
  if (!file) throw new Error(`Process ${pid} wrote no CPU profile into ${directory}.`)
  return roomShares(join(directory, file), interval).map(([room, share]) => [room, share * cpu])
}

/**
 * Returns the rooms with the share of the busy time that each has itself, the largest first. A room is a folder of the build such as
 * `fronts/a2a`, a package, or a part of Node. C++ and V8's own functions count for the room that calls them. `from` and `to` are instants of
 * `nowUs`: V8 has the same clock.
 */
export function roomShares(path, { from = 0, to = Number.POSITIVE_INFINITY } = {}) {
  const { nodes, samples, timeDeltas, startTime } = JSON.parse(readFileSync(path, 'utf8'))
  const parents = new Map()
  const byId = new Map(nodes.map((node) => [node.id, node]))
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id)
  const rooms = new Map()
  const roomOf = (id) => {
    if (!rooms.has(id)) rooms.set(id, roomOfFrame(byId.get(id)) ?? (parents.has(id) ? roomOf(parents.get(id)) : 'node'))
    return rooms.get(id)
  }
  const times = new Map()
  let busy = 0
  let at = startTime
  samples.forEach((id, index) => {
    at += timeDeltas[index]
    if (at < from || at > to) return
    const { functionName } = byId.get(id).callFrame
    const room = natives.has(functionName) ? natives.get(functionName) : roomOf(id)
    if (room === undefined) return
    busy += timeDeltas[index]
    times.set(room, (times.get(room) ?? 0) + timeDeltas[index])
  })
  return [...times].map(([room, time]) => [room, time / busy]).sort((a, b) => b[1] - a[1])
}

/** Undefined for C++ and for V8's own functions. */
function roomOfFrame({ callFrame: { functionName, url } }) {
  if (/^fdatasync(Sync)?$/.test(functionName)) return 'fdatasync'
  const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  if (name) return name === 'better-sqlite3' ? 'SQLite (statements)' : name
  const [, inside] = /\/dist\/(.+)$/.exec(url) ?? []
  if (inside)
    return sqliteRoom(inside, functionName) ?? (inside.split('/').slice(0, -1).slice(0, 2).join('/') || inside)
  if (/\/bench\/(lib|peers)\/[^/]+$/.test(url)) return 'bench'
  const [part] = /^node:(internal\/)?[^/]+/.exec(url) ?? []
  return part
}

/** SQLite runs inside the functions that call it. In connection.js the one without a name is made by `control`, for COMMIT. */
function sqliteRoom(inside, functionName) {
  if (inside === 'storage/sqlite/connection.js') return functionName ? 'SQLite (statements)' : 'SQLite (commit)'
  return inside === 'storage/sqlite/write-lock.js' ? 'SQLite (commit)' : undefined
}
