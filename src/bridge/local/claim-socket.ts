import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, lstatSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { createConnection, type Server } from 'node:net'
import { join } from 'node:path'
import { UsageError } from '../../client/failure.ts'
import { type LocalAddress, type LocalMachine, makePrivate } from './address.ts'
import { localLimits } from './protocol.ts'

/** How long a bridge that lives may take to accept a connection. */
const answerMaxMs = 1_000
/** A bridge that starts holds the lock for milliseconds, so an older one is left over from a crash. */
const lockMaxMs = 10_000

/**
 * Lets a server listen at the address of the bridge. The socket of a dead bridge is replaced atomically, so that there always is one.
 * Returns a function that removes it. Errors: `UsageError`, if a bridge listens there, or if others may enter the directory.
 */
export async function claimSocket(
  server: Server,
  { path, directory }: LocalAddress,
  machine: LocalMachine,
): Promise<() => void> {
  if (directory === undefined) {
    await listen(server, path)
    return () => {}
  }
  makePrivate(directory, machine)
  // Under a name of its own until only its user may connect.
  const draft = join(directory, `.${randomBytes(4).toString('hex')}`)
  await listen(server, draft)
  try {
    chmodSync(draft, 0o600)
    const unlock = lock(join(directory, 'bridge.lock'))
    try {
      if (await isAnswered(path)) throw alreadyRuns(path)
      renameSync(draft, path)
    } finally {
      unlock()
    }
  } catch (error) {
    rmSync(draft, { force: true })
    server.close()
    throw error
  }
  const { ino } = lstatSync(path)
  return () => {
    // Another bridge may have taken the place of one that hung.
    if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true })
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? alreadyRuns(path) : new UsageError(`${path}: ${error.message}`))
    server.once('error', fail)
    server.listen({ path, backlog: localLimits.connections }, () => {
      server.off('error', fail)
      resolve()
    })
  })
}

function alreadyRuns(path: string): UsageError {
  return new UsageError(
    `A bridge of this user runs already (${path}): one serves all agents of its configuration. rouse bridge status shows it.`,
  )
}

/** True when a process accepts connections at a path. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path)
    const end = (answer: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    // A bridge that is too busy to accept is alive.
    const timer = setTimeout(() => end(true), answerMaxMs)
    socket.once('connect', () => end(true))
    socket.once('error', ({ code }: NodeJS.ErrnoException) => end(code !== 'ENOENT' && code !== 'ECONNREFUSED'))
  })
}

/** Only one bridge at a time looks for another and takes its place. Errors: `UsageError`. */
function lock(path: string): () => void {
  for (const isLast of [false, true]) {
    try {
      closeSync(openSync(path, 'wx', 0o600))
      return () => rmSync(path, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
      if (isLast || Date.now() - since < lockMaxMs)
        throw new UsageError(`Another bridge starts just now (${path}). Try again.`, { cause: error })
      rmSync(path, { force: true })
    }
  }
  throw new UsageError(`${path} cannot be made.`)
}
