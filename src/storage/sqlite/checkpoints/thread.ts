// A thread of checkpoints.ts: each message asks for a checkpoint, each answer is the log's size after it; null: none was made.
import { fdatasyncSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { logSizeReader } from './log-size.ts'
import type { ThreadData } from './start-thread.ts'

const { path, fd } = workerData as ThreadData
const store = new Sqlite(path, { fileMustExist: true })
// Forces the log to the disk before its pages are moved, and the store before the log begins again.
store.pragma('synchronous = NORMAL')
const readSize = logSizeReader(store)

parentPort!.on('message', () => {
  try {
    // Waits neither for readers nor for a checkpoint of another connection.
    const [{ busy }] = store.pragma('wal_checkpoint(PASSIVE)') as [{ busy: number }]
    // SQLite forces the store's file to the disk only once all of the log is in it. Then little is left to force.
    fdatasyncSync(fd)
    parentPort!.postMessage(busy === 0 ? readSize() : null)
  } catch {
    // The disk is full, for example.
    parentPort!.postMessage(null)
  }
})
