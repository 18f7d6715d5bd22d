import type { Io } from '../../client/io.ts'
import { clip } from '../../client/terminal-text.ts'
import { type Clock, steadyClock } from '../../lib/clock.ts'

/** The shortest time between two lines in a log, and between two states of the line on a terminal. */
const everyMs = { log: 10_000, terminal: 100 } as const

/** How long a work is watched before its remaining time is shown. */
const watchedMs = 1_000

/** Moves the cursor to the beginning of the line, and empties it. */
const emptyLine = '\r\u001b[K'

/** How far a long work has come, for a person: `12,000 of 48,000 rows, 1 min 20 s left`. */
export interface Progress {
  /** A smaller `done` than before begins another pass, with a time of its own. */
  show(done: number, total: number): void
  /** Empties the line on a terminal, so that something else can be printed. */
  end(): void
}

interface ProgressOptions {
  /** The counted things, in the plural: `rows`. */
  readonly noun: string
  /** With `--json` nothing is shown. */
  readonly json: boolean
  readonly clock?: Pick<Clock, 'now'>
}

/** Shows progress on standard error: one line that is rewritten on a terminal, otherwise a line every 10 s at most. */
export function createProgress(
  io: Pick<Io, 'stderr' | 'errorColumns'>,
  { noun, json, clock = steadyClock }: ProgressOptions,
): Progress {
  const { errorColumns: columns } = io
  const isTerminal = columns !== undefined
  let beganAt = clock.now()
  let shownAt = isTerminal ? Number.NEGATIVE_INFINITY : beganAt
  let last = 0
  let isOnScreen = false
  return {
    show(done, total) {
      const now = clock.now()
      if (done < last) beganAt = now
      last = done
      if (json || now - shownAt < (isTerminal ? everyMs.terminal : everyMs.log)) return
      shownAt = now
      isOnScreen = isTerminal
      const text = progressText(noun, done, total, now - beganAt)
      io.stderr(isTerminal ? `${emptyLine}${clip(text, columns - 1)}` : `${text}\n`)
    },
    end() {
      if (isOnScreen) io.stderr(emptyLine)
      isOnScreen = false
    },
  }
}

/** @param elapsedMs since `done` was 0. Pure. */
export function progressText(noun: string, done: number, total: number, elapsedMs: number): string {
  const counts = `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${noun}`
  if (done <= 0 || done >= total || elapsedMs < watchedMs) return counts
  return `${counts}, ${timeText((elapsedMs / done) * (total - done))} left`
}

function timeText(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
