/** EX_SOFTWARE of sysexits.h: the program itself failed. */
export const faultExitCode = 70

/** How long an orderly end may take after a fault. */
const endMaxMs = 10_000

/** What the process has to do with a fault that nothing caught. */
interface FaultProcess {
  on(event: 'uncaughtException', listener: (error: unknown, origin: string) => void): unknown
  exit(code: number): never
}

/**
 * Ends the process in good order when a fault reaches nobody: an exception or a rejected promise that nothing caught. Node
 * reports both as `uncaughtException`. Each one is logged as one JSON line and counted; the first calls `end`, and the process
 * exits by itself when that takes too long. Returns the count.
 */
export function endOnFault(
  process: FaultProcess,
  { log, end }: { log: (line: string) => void; end: () => void },
): { readonly count: () => number } {
  let count = 0
  process.on('uncaughtException', (error, origin) => {
    count++
    log(
      `${JSON.stringify({ level: 60, time: Date.now(), msg: 'process.failed', origin, count, err: described(error) })}\n`,
    )
    if (count > 1) return
    setTimeout(() => process.exit(faultExitCode), endMaxMs).unref()
    end()
  })
  return { count: () => count }
}

function described(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  return { type: error.name, message: error.message, stack: error.stack }
}
