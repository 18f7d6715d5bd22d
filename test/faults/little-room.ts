import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProcessGateway } from '../support/process-gateway.ts'

/** A place for a data directory whose free space can be removed and restored. */
interface LittleRoom extends Disposable {
  readonly dataDir: string
  fill(gateway: ProcessGateway): void
  free(gateway: ProcessGateway): void
  /** True when the place is still full for a new process. */
  readonly outlivesProcess: boolean
}

/** Files may not grow: a write beyond the limit fails with EFBIG. For every user, on Linux. Undefined: not on this system. */
export function limitedFileSize(): LittleRoom | undefined {
  if (!works('prlimit', ['--version'])) return undefined
  const dataDir = mkdtempSync(join(tmpdir(), 'rouse-room-'))
  const limit = (gateway: ProcessGateway, size: string) =>
    execFileSync('prlimit', ['--pid', String(gateway.pid), `--fsize=${size}:unlimited`])
  return {
    dataDir,
    outlivesProcess: false,
    // One page: less than any commit writes.
    fill: (gateway) => limit(gateway, '4096'),
    free: (gateway) => limit(gateway, 'unlimited'),
    [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }),
  }
}

/**
 * A small file system, filled to the last byte: writes fail with ENOSPC. For root, on Linux. It has room for the write-ahead log, which
 * grows to some 25 MB before it is used again, and for the store.
 */
export function smallFileSystem(): LittleRoom | undefined {
  const dataDir = mkdtempSync(join(tmpdir(), 'rouse-room-'))
  if (!works('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=0700', 'tmpfs', dataDir])) {
    rmSync(dataDir, { recursive: true })
    return undefined
  }
  const ballast = join(dataDir, 'ballast')
  return {
    dataDir,
    outlivesProcess: true,
    fill() {
      try {
        for (let i = 0; i < 20_000; i++) writeFileSync(ballast, Buffer.alloc(4096), { flag: 'a' })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
        throw error
      }
      throw new Error('The file system is not as small as it was made.')
    },
    free: () => rmSync(ballast),
    [Symbol.dispose]() {
      execFileSync('umount', ['--lazy', dataDir])
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

function works(command: string, argv: readonly string[]): boolean {
  try {
    execFileSync(command, argv, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
