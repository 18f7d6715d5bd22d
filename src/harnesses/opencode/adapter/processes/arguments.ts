import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The conversation that a terminal opened with, as its command line says it. */
export interface OpenedWith {
  /** `opencode --session ses_1` */
  readonly sessionId?: string
  /** `opencode --continue`: the conversation that was changed last. */
  readonly continues?: true
}

/** Returns the facts in the command line of a process about the conversation that it opened with. Nothing where it cannot be read. */
export function openedWith(pid: number): OpenedWith {
  try {
    if (process.platform === 'linux') return openedBy(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'))
    const options = { env: { PATH: '/bin:/usr/bin' }, timeout: 500, encoding: 'utf8' } as const
    return openedBy(
      execFileSync('ps', ['-o', 'args=', '-p', String(pid)], options)
        .trim()
        .split(/\s+/),
    )
  } catch {
    return {}
  }
}

/** Pure. */
export function openedBy(argv: readonly string[]): OpenedWith {
  for (const [index, word] of argv.entries()) {
    if (word === '--continue' || word === '-c') return { continues: true }
    const sessionId = /^(?:--session=|-s=?)(ses.*)$/.exec(word)?.[1]
    const next = word === '--session' || word === '-s' ? argv[index + 1] : undefined
    if (sessionId ?? next) return { sessionId: (sessionId ?? next)! }
  }
  return {}
}
