import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { Connection } from '../../src/storage/sqlite/connection.ts'
import { afterFlush, type DiskPace, flushesHere, unknownPace } from '../../src/storage/sqlite/flush-thread.ts'
import { WalFile } from '../../src/storage/sqlite/sqlite-database.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startProcessGateway } from '../support/process-gateway.ts'
import { until } from '../support/until.ts'

/** A disk on which every flush takes what `tookMs` says for its number, and the flushes that stop the main thread for longer than 100 ms. */
function stallsOf(tookMs: (flush: number) => number, flushes: number): number[] {
  const stalls: number[] = []
  let pace: DiskPace = unknownPace
  let now = 0
  for (let flush = 0; flush < flushes; flush++) {
    now += 1
    const isHere = flushesHere(pace, now)
    const took = tookMs(flush)
    if (isHere && took > 100) stalls.push(flush)
    pace = afterFlush(pace, isHere, now, now + took)
    now += took
  }
  return stalls
}

const quick = 0.2

test('a quick disk is waited for on the main thread, from the second flush on', () => {
  const first = afterFlush(unknownPace, false, 0, quick)
  expect([flushesHere(unknownPace, 0), flushesHere(first, 1)]).toEqual([false, true])
})

test('a disk that was idle is tried on the other thread first', () => {
  const pace = afterFlush(unknownPace, false, 0, quick)
  expect([flushesHere(pace, 100), flushesHere(pace, 101)]).toEqual([true, false])
})

test('after a stall another thread makes twenty quick flushes, after the next stall forty, and so on', () => {
  const stalls = stallsOf((flush) => ([10, 31, 72, 153, 314].includes(flush) ? 500 : quick), 1_000)
  expect(stalls).toEqual([10, 31, 72, 153, 314])
  const between = stallsOf((flush) => (flush === 10 || (flush > 10 && flush % 30 === 0) ? 500 : quick), 100_000)
  expect(between.length).toBeLessThan(10)
})

test('whatever a disk does, the main thread stalls less than once in two thousand flushes in the long run', () => {
  for (const every of [2, 7, 21, 50, 100, 500, 1_000, 5_000]) {
    const stalls = stallsOf((flush) => (flush % every === 0 ? 500 : quick), 200_000)
    expect(stalls.length).toBeLessThan(110)
  }
})

test('a flush that is a little slow is no stall: twenty quick ones elsewhere, however often', () => {
  let pace: DiskPace = afterFlush(unknownPace, false, 0, quick)
  for (let time = 0; time < 100; time++) {
    expect(flushesHere(pace, 1)).toBe(true)
    pace = afterFlush(pace, true, 0, 2)
    for (let flush = 0; flush < 20; flush++) {
      expect(flushesHere(pace, 3)).toBe(false)
      pace = afterFlush(pace, false, 2, 2 + quick)
    }
  }
})

test('a disk that is slow on the other thread too is not tried on the main one', () => {
  expect(stallsOf((flush) => (flush < 10 ? quick : 500), 10_000)).toEqual([10])
})

test('the write-ahead log is flushed by these rules', async () => {
  using directory = dataDirectory()
  using store = opened(`${directory.path}/test.db`)
  const now = { calls: 0, at: 0 }
  const wal = new WalFile(store.path, () => {
    now.calls++
    return now.at
  })
  onTestFinished(() => wal.close())
  /** Returns whether a flush was over when it returned. */
  const isHere = async (): Promise<boolean> => {
    const before = now.calls
    const flushed = wal.flush()
    const calls = now.calls - before
    await flushed
    return calls === 2
  }
  expect([await isHere(), await isHere(), await isHere()]).toEqual([false, true, true])
  now.at += 200
  expect([await isHere(), await isHere()]).toEqual([false, true])
})

function opened(path: string) {
  const connection = new Connection(path, { readonly: false })
  connection.raw.exec('create table note (id integer primary key)')
  return { path, [Symbol.dispose]: () => connection.close() }
}

/** `fdatasync` of a disk that is quick, and stalls while the file has a 1. */
const stallingDisk = `
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int fdatasync(int fd) {
  (void)fd;
  for (;;) {
    FILE *f = fopen(getenv("STALL_FILE"), "r");
    int c = f ? fgetc(f) : '0';
    if (f) fclose(f);
    if (c != '1') return 0;
    usleep(5000);
  }
}`

const hasCompiler = process.platform === 'linux' && spawnSync('gcc', ['--version']).status === 0

test.runIf(hasCompiler)(
  'while a disk that was idle stalls, requests are answered, and the write is once it goes on',
  async () => {
    using directory = dataDirectory()
    const [source, library, stall] = ['disk.c', 'disk.so', 'stall'].map((name) => `${directory.path}/${name}`) as [
      string,
      string,
      string,
    ]
    writeFileSync(source, stallingDisk)
    execFileSync('gcc', ['-shared', '-fPIC', '-o', library, source])
    writeFileSync(stall, '0')
    await using gateway = await startProcessGateway({ LD_PRELOAD: library, STALL_FILE: stall })
    const make = (handle: string) => gateway.call('POST', '/v1/agents', { handle })
    for (let agent = 0; agent < 5; agent++) await make(`agent-${agent}`)
    const madeAt = performance.now()
    await until(
      () => performance.now(),
      (now) => now > madeAt + 300,
    )
    writeFileSync(stall, '1')
    let isMade = false
    const made = make('donna').then((answer) => {
      isMade = true
      return answer
    })
    for (let time = 0; time < 20; time++) expect((await gateway.call('GET', '/healthz')).status).toBe(200)
    expect(isMade).toBe(false)
    writeFileSync(stall, '0')
    expect((await made).status).toBe(201)
  },
)
