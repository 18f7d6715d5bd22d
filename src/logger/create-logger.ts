import { isatty } from 'node:tty'
import { type DestinationStream, pino, stdTimeFunctions } from 'pino'
import { DescriptorOutput, type LogOutput } from './descriptor-output.ts'
import type { Logger } from './logger.ts'
import { terminalLine } from './terminal-line.ts'
import { withoutSecrets } from './without-secrets.ts'

/** The log of the program. */
interface ProgramLog extends Logger {
  /** Writes what waits, before the program ends. Lines of `warn` and `error` do not wait. */
  flush(): void
}

/** The descriptor of standard error: standard output stays the program's own. */
const errorOutput = 2
const gather = 8 * 1024

/**
 * Writes JSON lines to standard error, or short lines for people where that is a terminal. `level` is a word, `time` ISO 8601.
 * Secrets are redacted by name. Lines below `warn` wait up to 100 ms for others.
 */
export function createLogger(level: string, output: LogOutput = createOutput()): ProgramLog {
  const options = {
    level,
    base: undefined,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: withoutSecrets,
    },
    timestamp: stdTimeFunctions.isoTime,
  }
  const lines = pino(options, output as DestinationStream)
  const urgent = (write: (fields: object, event: string) => void) => (fields: object, event: string) => {
    write.call(lines, fields, event)
    output.flush()
  }
  return {
    debug: lines.debug.bind(lines),
    info: lines.info.bind(lines),
    warn: urgent(lines.warn),
    error: urgent(lines.error),
    shows: (level) => lines.isLevelEnabled(level),
    flush: () => output.end(),
  }
}

function createOutput(): LogOutput {
  if (!isatty(errorOutput)) {
    return new DescriptorOutput(errorOutput, { gather, dropped: droppedLine })
  }
  const terminal = new DescriptorOutput(errorOutput, {
    gather: 0,
    dropped: (lines) => terminalLine(droppedLine(lines)),
  })
  return {
    write: (line) => terminal.write(terminalLine(line)),
    flush: () => terminal.flush(),
    end: () => terminal.end(),
  }
}

function droppedLine(lines: number): string {
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, msg: 'log.dropped' })}\n`
}
